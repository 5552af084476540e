"""Phrases that give a pair away: a query that speaks of the text it was made from, an answer that
shows whether its writer had one. Rules over English phrases; each returns the words it found.

Texts as a subject pass ("How do historians use documents?", "the study of insects"): it takes a
pointing word, a citing one, or a verb of saying beside them.
"""

from __future__ import annotations

import re

_ONE = r"(?:text|passage|document|article|abstract|paper|study|excerpt)"
_ANY = rf"(?:{_ONE}s?|studies)"
_SOURCE = rf"(?:{_ANY}|paragraphs?|context|information|facts?|content|materials?|sources?|authors?)"
_GIVEN = r"(?:given|provided|above|supplied|presented|mentioned)"
_SAYS = (
    r"(?:states?|says?|mentions?|describes?|notes?|explains?|provides?|discuss(?:es)?|introduces?|"
    r"presents?|proposes?|highlights?|suggests?|reports?|examines?|investigates?|aims?|finds?|"
    r"found|shows?|conclude[sd]?|focus(?:es)?)"
)
_CITING = (
    r"\b(?:according to|based on|in light of|"
    r"as (?:described|mentioned|stated|discussed|noted) (?:in|by))"
    rf" (?:the|this|these|your)(?: (?:{_GIVEN}|following))? {_SOURCE}\b(?! of\b)"
    rf"|\b{_GIVEN} (?:{_ANY}|paragraphs?)\b"
    rf"|\b(?:the|this|your) {_GIVEN} (?:context|information)\b"
    rf"|\b(?:following|preceding) (?:{_ONE}|paragraph)\b"
    rf"|\b(?:{_ANY}|context|information|facts|paragraph) (?:{_GIVEN})\b(?! (?:by|to)\b)"
    rf"|\bth(?:is|ese) (?:{_ANY}|paragraph|research|report)\b"
    rf"|\bas per the {_ONE}\b(?! of\b)|\b(?:from|in) the {_ONE}(?=[,;:])"
)
_FRAME = (  # of the prompt itself, which small writers repeat
    r"###|\blines? (?:that )?(?:begins?|starts?|beginning|starting) with\b"
    r"|\b(?:the|this) material (?:between|above|below|given|provided)\b"
    rf"|\b(?:the|this) material (?:\w+ly )?(?:focus|{_SAYS})\b"
)
_QUERY = re.compile(
    rf"{_CITING}|{_FRAME}"
    rf"|\bthe {_ANY}(?=\W*$|[,;:]| (?:{_SAYS}|about|above)\b)"
    rf"|\b(?:mentioned|described|stated|discussed|presented|shown) (?:above|here|in the {_ANY})\b"
    r"|\bthe authors?\b(?! (?:of\b|(?-i:[A-Z])))"
    rf"|\bthe authors? of (?:this|the) {_ANY}\b"
    rf"|\binformation (?:is|was) {_GIVEN}\b|\bcontent above\b"
    r"|\bwe propose\b",
    re.IGNORECASE,
)
_DECLINING = (
    r"(?:\bi(?:['’]m| am) (?:not sure|unable|not able|not aware|unfamiliar|not familiar)\b"
    r"|\bi (?:do not|don['’]t|cannot|can['’]t) (?:have|know|find|access|provide|answer|see)\b"
    r"|\bthere is (?:no|not enough) (?:information|mention)\b"
    r"|\bno (?:further |specific )?information (?:is|was) (?:given|provided|available|mentioned)\b"
    rf"|\bthe (?:{_GIVEN} )?{_SOURCE} (?:does not|doesn['’]t|do not|don['’]t) "
    r"(?:provide|mention|contain|include|specify|give|state|say)\b)"
)
_ANSWER = re.compile(
    rf"{_CITING}|{_FRAME}|{_DECLINING}"
    rf"|\b(?:the|this) (?:{_GIVEN} )?(?:{_ANY}|context|paragraph|authors?) {_SAYS}\b"
    rf"|\bin the present {_ONE}\b"
    r"|\b(?:as|i am|i['’]m) (?:just |only )?an? "
    r"(?:ai|artificial intelligence|(?:large )?language model)\b"
    rf"|\bwithout (?:access to|seeing|reading) (?:the|any|this|that|its|your) (?:\w+ )?{_SOURCE}\b"
    r"|\bwithout (?:more|further|additional|any) (?:context|information)\b"
    r"|\bmy (?:training data|knowledge cut-?off|last update)\b"
    r"|\bwe (?:then |also |further |first )?(?:propose|present|introduce|prove|demonstrate|"
    r"conducted|evaluated|enrolled|analy[sz]ed|compared|investigated|examined|assessed)\b"
    r"|\bour (?:results|findings|experiments|study|framework)\b(?! of\b)",
    re.IGNORECASE,
)
_DECLINES = re.compile(_DECLINING, re.IGNORECASE)


def reveals_its_text(query: str) -> str | None:
    """The words by which a query speaks of the text that it was made from."""
    return _first(_QUERY, query)


def tells_its_text(answer: str) -> str | None:
    """The words that show that its writer had a text, or missed one."""
    return _first(_ANSWER, answer)


def declines(answer: str) -> str | None:
    """The words by which an answer says at its beginning that it cannot be given."""
    found = _DECLINES.match(" ".join(answer[:400].split()))
    return found[0] if found else None


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(" ".join(text.split()))
    return found[0] if found else None
