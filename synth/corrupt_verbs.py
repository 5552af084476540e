"""Verbs that a denial needs in their forms: `plays` is denied as `does not play`."""

from __future__ import annotations

from openreward.synth.corrupt_words import word_list, word_set

_IRREGULAR = {
    "become": "became", "begin": "began", "bring": "brought", "build": "built", "buy": "bought",
    "come": "came", "draw": "drew", "fall": "fell", "fight": "fought", "find": "found",
    "give": "gave", "go": "went", "grow": "grew", "have": "had", "hold": "held", "keep": "kept",
    "know": "knew", "lead": "led", "leave": "left", "lose": "lost", "make": "made", "meet": "met",
    "rise": "rose", "run": "ran", "see": "saw", "sell": "sold", "speak": "spoke", "spend": "spent",
    "take": "took", "teach": "taught", "undergo": "underwent", "win": "won", "write": "wrote",
}  # fmt: skip
_REGULAR = word_list(
    "achieve affect allow appear attend belong cause comprise connect consist contain "
    "contribute cover create describe develop die differ direct discover earn enable encompass "
    "establish exhibit exist explain extend fail feature follow gain generate graduate identify "
    "improve include increase indicate influence introduce invent involve join lack live "
    "maintain marry move occur offer operate outperform own participate perform play possess "
    "predict prevent produce provide publish reach receive record reduce reflect release remain "
    "represent require result retire return reveal separate serve settle show star start "
    "suggest support surpass survive view visit yield"
)
AMBIGUOUS = word_set(
    "causes covers features gains plays produces records results reaches reflects releases returns "
    "shows stars starts supports views visits yields offers owns lives dies moves leads runs draws "
    "holds falls rises keeps makes fails lacks increases follows serves influences"
)
"""Third persons that are also nouns, or often stand where no verb would be denied."""
NAMING = word_set("called named found made led considered included")
"""Past forms that are as often participles, even with an article behind them."""


def third(base: str) -> str:
    """He plays, she tries."""
    if base == "have":
        return "has"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def past(base: str) -> str:
    """Of a verb of the lists."""
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base == "occur":
        return "occurred"
    if base in ("star",):
        return "starred"
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


VERBS = frozenset([*_IRREGULAR, *_REGULAR])
THIRDS = {third(base): base for base in sorted(VERBS)}
PASTS = {past(base): base for base in sorted(VERBS)}
CLEAR_PASTS = word_set(
    "became began came drew fell gave grew knew rose ran saw spoke took underwent went wrote"
)
"""Past forms that are no participles."""
