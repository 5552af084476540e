"""Facts left out: a sentence that nothing else leans on, or a clause between commas or brackets.

What is left reads on as before, and all of it is still true: the whole answer is the better one for
being complete. A sentence that introduces a name or a short form used later stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from openreward.synth.corrupt_text import Answer, Edit, Proposal

_LEAST_WORDS = 6  # of a sentence that is left out
_LEANING = re.compile(
    r"(?:It|Its|This|These|Those|They|Their|He|She|His|Her|Such|However|But|Thus|Therefore|Hence|"
    r"Also|Additionally|Moreover|Furthermore|Both|The former|The latter|Then|There|Later|After|"
    r"Afterwards|Consequently|As a result|In contrast|Conversely|Similarly|Likewise|In addition|"
    r"Instead|Finally|Meanwhile|Nevertheless|Nonetheless|Another|Other|Others|Together|Overall|And|"
    r"Here|So|Some|One|Second|Third|Next|For example|For instance|In turn|By contrast|That|Yet|"
    r"On the other hand|Specifically|Again|Still|Among|Each|Neither|Of these|The other|"
    r"[(\[]?\(?\d+[.)])\b"
)
_LEANING_INSIDE = re.compile(
    r"\b(?:also|further|likewise|such|this|these|those|same|remaining|latter|former|related|"
    r"another|so)\b"
)
_SAME_SUBJECT = re.compile(r"(?:It|Its|He|She|His|Her|They|Their)\b")
_OPENS_LIST = re.compile(r":\s*$|\bfollows\b|\(1\)|\(i\)|\b[Ff]irst(?:ly)?,|[•*]")
_CONTRIBUTES = re.compile(
    r"\b(?:we|paper|work) (?:\w+ )?(?:present|introduce|propose|develop|address)", re.I
)
_FACT = re.compile(r"\d|(?<=[a-z,] )[A-Z][\w-]+|%")
_CLAUSE = re.compile(
    r", (?:which|who|whose|where|including|such as|making|with|often|known|located|published|"
    r"released|founded|based|along with|as well as|especially|particularly|notably)\b"
    r"[^,;:()\n.]{12,140}?"
    r"(?=(?P<on>, (?:is|are|was|were|has|had|have|can|and|but)\b)|[.](?:\s|$))"
)
_BRACKET = re.compile(r" \((?![A-Z]{2,}s?\))[^()\n]{4,120}\)(?=[ ,.;])")
_TELLING = re.compile(
    r"^(?!.*[pP] ?[<>=]|.*\bCIs?\b|.*interval).*(?:\d{4}[–-]\d{4}|[a-z]{4,} (?:\S+ )*[a-z]{4,})"
)


def propose_omissions(answer: Answer, random: Random) -> Iterator[Proposal]:
    """Each sentence or clause that can go, sentences and clauses in turn; English only."""
    if not answer.english:
        return
    ways = [[*_sentences(answer)], [*_clauses(answer)]]
    for way in ways:
        random.shuffle(way)
    random.shuffle(ways)
    while any(ways):
        for way in ways:
            if way:
                yield way.pop()


def _sentences(answer: Answer) -> Iterator[Proposal]:
    text, spans = answer.text, answer.sentences
    for place in range(1, len(spans)):
        start, end = spans[place]
        sentence, former = text[start:end], text[spans[place - 1][0] : spans[place - 1][1]]
        following = text[slice(*spans[place + 1])] if place + 1 < len(spans) else ""
        if len(sentence.split()) < _LEAST_WORDS or not _FACT.search(sentence):
            continue
        if _CONTRIBUTES.search(sentence):
            continue
        if _OPENS_LIST.search(sentence) or _OPENS_LIST.search(former) or sentence.startswith("("):
            continue
        chained = _SAME_SUBJECT.match(following) and _SAME_SUBJECT.match(sentence)
        if _LEANING.match(following) and not (chained and _starts_alike(sentence, following)):
            continue
        if _LEANING_INSIDE.search(" ".join(following.split()[:7])):
            continue
        if _introduces(text, start, end) or "\n" in text[spans[place - 1][1] : start].strip(" "):
            continue
        yield Proposal("sentence", [Edit(spans[place - 1][1], end, "")])


def _starts_alike(sentence: str, following: str) -> bool:
    """Whether both speak of one subject, so that the second stands without the first."""
    forms = {"it": "it its", "he": "he his", "she": "she her", "they": "they their"}
    first, second = sentence.split()[0].lower(), following.split()[0].lower()
    return any(first in pair.split() and second in pair.split() for pair in forms.values())


def _introduces(text: str, start: int, end: int) -> bool:
    """Whether a word with a capital is first said here and is said again later."""
    words = set(re.findall(r"\b[A-Z][\w-]+", text[start:end]))
    before, after = text[:start], text[end:]
    return any(
        re.search(rf"\b{re.escape(word)}\b", after)
        and not re.search(rf"\b{re.escape(word)}\b", before)
        for word in words
    )


def _clauses(answer: Answer) -> Iterator[Proposal]:
    text = answer.text
    for pattern in (_CLAUSE, _BRACKET):
        for match in pattern.finditer(text):
            start, end = match.span()
            first, _ = answer.sentence_at(start)
            if pattern is _BRACKET and not _TELLING.search(match[0]):
                continue
            if not _FACT.search(match[0]) or _introduces(text, start, end):
                continue
            if pattern is _CLAUSE and "," in text[first:start]:
                continue  # may belong to a list
            on = match.groupdict().get("on")
            if on and re.match(r", (?:and|but)\b", on):
                continue
            yield Proposal("clause", [Edit(start, end + (1 if on else 0), "")])
