"""The templates of wikitext that stand within sentences, as a reader sees them; others are nothing.

Without these "the river is {{convert|10|km|mi}} long" would read "the river is long". Names and
arguments are those of the English Wikipedia.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_NAMED = re.compile(r"\s*[\w .-]{1,40}=")
_LOWER = re.compile(r"\s*lc\s*=\s*\w")
_RANGE = {
    "to": "to", "and": "and", "or": "or", "by": "by", "x": "by", "-": "–", "–": "–",
    "to(-)": "to", "+/-": "±",
}  # fmt: skip
_UNITS = {
    "C": "°C", "F": "°F", "sqmi": "square miles", "sqkm": "square kilometres",
    "km2": "square kilometres", "sqft": "square feet", "m2": "square metres", "mi": "miles",
    "kph": "km/h", "nmi": "nautical miles", "acre": "acres",
}  # fmt: skip
_NUMBER = re.compile(r"[-−+]?[\d,.]+")


def expand_template(parts: Sequence[str]) -> str:
    """The text that a template stands for, from its name and arguments."""
    name = " ".join(parts[0].replace("_", " ").split()).casefold()
    if name.startswith("formatnum:"):
        return name.removeprefix("formatnum:").strip()
    if name.startswith("lang-"):
        name = "lang-"
    if name == "as of" and any(_LOWER.match(part) for part in parts[1:]):
        name = "as of lc"
    if name == "val":
        return _value(parts[1:])
    shown = _SHOWN.get(name)
    return "" if shown is None else shown(_arguments(parts[1:]))


def _arguments(parts: Sequence[str]) -> list[str]:
    """The arguments by place; `1=` and `text=` stand for the first."""
    found: list[str] = []
    for part in parts:
        named = _NAMED.match(part)
        if not named:
            found.append(part.strip())
        elif named[0][:-1].strip() in ("1", "text"):
            found.insert(0, part[named.end() :].strip())
    return found


def _value(parts: Sequence[str]) -> str:
    """A number with its error, power of ten and unit: `5.2|0.1|e=3|u=m` is (5.2 ± 0.1)×10^3 m."""
    named = {key.strip(): part.strip() for key, is_named, part in _halves(parts) if is_named}
    number = " ± ".join(_arguments(parts)[:2])
    if power := named.get("e"):
        number = f"({number})×10^{power}" if "±" in number else f"{number}×10^{power}"
    unit = named.get("u") or named.get("ul") or ""
    return f"{number}{'' if unit == '%' else ' '}{unit}".strip()


def _halves(parts: Sequence[str]) -> list[tuple[str, str, str]]:
    return [part.partition("=") for part in parts]


def _argument(place: int) -> Callable[[Sequence[str]], str]:
    def shown(arguments: Sequence[str]) -> str:
        return arguments[place] if -len(arguments) <= place < len(arguments) else ""

    return shown


def _always(text: str) -> Callable[[Sequence[str]], str]:
    return lambda arguments: text


def _before(text: str) -> Callable[[Sequence[str]], str]:
    return lambda arguments: text + "".join(arguments[:1])


def _convert(arguments: Sequence[str]) -> str:
    """A measure as it was given: `5|to|10|km|mi` is 5 to 10 km, `6|ft|2|in|m` 6 ft 2 in."""
    if len(arguments) < 2:
        return "".join(arguments)
    value, second = arguments[:2]
    if second in _RANGE and len(arguments) > 3:
        unit = _UNITS.get(arguments[3], arguments[3])
        space = "" if _RANGE[second] == "–" else " "
        return f"{value}{space}{_RANGE[second]}{space}{arguments[2]} {unit}"
    shown = f"{value} {_UNITS.get(second, second)}"
    pair = (second, *arguments[3:4])
    if pair in (("ft", "in"), ("lb", "oz"), ("st", "lb")) and _NUMBER.fullmatch(arguments[2]):
        shown += f" {arguments[2]} {pair[1]}"
    return shown


def _fraction(arguments: Sequence[str]) -> str:
    *whole, top, bottom = ["", *arguments] if len(arguments) == 1 else arguments or ["", ""]
    if not top:
        return f"1/{bottom}" if bottom else ""
    return " ".join([*whole, f"{top}/{bottom}"])


def _ship(arguments: Sequence[str]) -> str:
    return " ".join(filter(None, arguments[:2]))


def _quoted(arguments: Sequence[str]) -> str:
    return f"\n\n{arguments[0]}\n\n" if arguments else ""


_PLAIN = (
    "nowrap", "nobr", "small", "big", "smaller", "larger", "abbr", "abbrlink", "tooltip", "sc",
    "smallcaps", "em", "strong", "bdi", "nihongo", "ill", "interlanguage link", "lang-", "math",
    "mvar", "var", "tmath", "sic", "not a typo", "flag", "flagu", "formatnum", "num",
)  # fmt: skip
_FIRST, _SECOND = _argument(0), _argument(1)
_SHOWN: Mapping[str, Callable[[Sequence[str]], str]] = {
    **dict.fromkeys(_PLAIN, _FIRST),
    **dict.fromkeys(("lang", "langx", "color", "colour", "font color"), _SECOND),
    **dict.fromkeys(("transl", "transliteration", "translit"), _argument(-1)),
    **dict.fromkeys(("convert", "cvt"), _convert),
    **dict.fromkeys(("frac", "fraction", "sfrac"), _fraction),
    **dict.fromkeys(("circa", "c.", "ca."), _before("c. ")),
    **dict.fromkeys(("snd", "spnd", "spaced ndash", "sndash"), _always(" – ")),
    **dict.fromkeys(("ndash", "endash"), _always("–")),
    **dict.fromkeys(("mdash", "emdash", "em dash"), _always("—")),
    **dict.fromkeys(("nbsp", "thinsp", "space", "clear", "·", "•"), _always(" ")),
    **dict.fromkeys(("'", "`"), _always("'")),
    **dict.fromkeys(("quote", "blockquote", "cquote", "quotation"), _quoted),
    "'s": _always("'s"),
    "as of": _before("As of "),
    "as of lc": _before("as of "),
    "us$": _before("US$"),
    "usd": _before("US$"),
    "gbp": _before("£"),
    "£": _before("£"),
    "€": _before("€"),
    "euro": _before("€"),
    "¥": _before("¥"),
    "inr": _before("₹"),
    "sup": _before("^"),
    "sub": _FIRST,
    "ship": _ship,
    "uss": _before("USS "),
    "hms": _before("HMS "),
    "!": _always("|"),
    "=": _always("="),
}
