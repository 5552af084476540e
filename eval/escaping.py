"""Text of any origin as HTML and Markdown show it and do not obey it.

What would act or hide (escape sequences, bidirectional overrides, invisible characters) is written
out, as on a terminal; so a name cannot pass for another.
"""

from __future__ import annotations

import html
import re

from openreward.printable import one_line, visible

_ADDRESS = r":(?=//)|(?<=www)\."  # a bare address would be a link
_ACTIVE = re.compile(rf"([\\`*_{{}}\[\]<>#|~!&]|{_ADDRESS})")


def in_html(text: str) -> str:
    """Text for an element or a quoted attribute."""
    return html.escape(visible(text))


def in_markdown(text: str) -> str:
    """Text as one line, for a heading, a paragraph or a cell."""
    return one_line(_ACTIVE.sub(r"\\\1", " ".join(text.split())))
