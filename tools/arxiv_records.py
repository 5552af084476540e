"""A paper of arXiv as a document: its abstract, named without its version, which is the revision.

Files of metadata and the live service agree in this. LaTeX in it is left as it is.
"""

from __future__ import annotations

import re

from openreward.types import Document

_NAME = re.compile(r"(?:arXiv:)?([\w./-]+?)(v\d+)?")
_PARAGRAPH = re.compile(r"\n\s*\n")


def split_name(name: str) -> tuple[str, str | None] | None:
    """An id of arXiv as written, in two: the paper and its version; None for what is no id."""
    found = _NAME.fullmatch(name.strip())
    return None if found is None else (found[1], found[2])


def make_document(paper: str, title: str, abstract: str, revision: str | None) -> Document | None:
    """The document of a paper; None where its abstract is empty."""
    text = "\n\n".join(" ".join(part.split()) for part in _PARAGRAPH.split(abstract)).strip()
    if not text:
        return None
    return Document(
        id=f"arxiv:{paper}",
        source="arxiv",
        title=" ".join(title.split()),
        text=text,
        url=f"https://arxiv.org/abs/{paper}",
        revision=revision,
    )
