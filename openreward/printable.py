"""Text from elsewhere, made safe to print: what would act in a terminal is written out instead.

An answer or a page may hold escape sequences (which move the cursor, set the title, fill the
clipboard), bidirectional overrides and invisible characters. Each such character is shown as its
escape; newlines and tabs stay. Print the outcome as rich `Text`, never as markup.
"""

from __future__ import annotations

import unicodedata

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_KEPT = "\n\t"


def visible(text: str) -> str:
    r"""The text with every character that could act, or hide, as an escape such as `\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _harmless(char) else _escape(char) for char in text)


def one_line(text: str) -> str:
    """The same on one line: line breaks and tabs are escapes too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _harmless(char: str) -> bool:
    return char in _KEPT or unicodedata.category(char) not in _UNSAFE


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
