"""Wrong statements: one denied that was made, or made that was denied, in sound grammar.

`is` becomes `is not`, `plays` becomes `does not play`, `there was a` becomes `there was no`; and
the other way round `did not improve` becomes `improved`. Left alone is what a `not` would not make
false or not fit: sentences with another denial, with some or all, conditions, questions, quotes.
Words turned into their opposites are in `corrupt_antonyms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from openreward.synth.corrupt_antonyms import propose_antonyms
from openreward.synth.corrupt_text import Answer, Edit, Proposal, takes_an, word_before
from openreward.synth.corrupt_verbs import (
    AMBIGUOUS,
    CLEAR_PASTS,
    NAMING,
    PASTS,
    THIRDS,
    VERBS,
    past,
    third,
)
from openreward.synth.corrupt_words import word_set

DENIAL = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|hardly|scarcely|barely|few|little|fails?|failed|"
    r"unable|none|nothing|nobody|rarely|seldom|struggl\w+|"
    r"lack\w*|avoid\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"\b(?:some|several|many|most|all|every|each|both|either|any|if|whether|unless|until|how|why|what|only)\b|\?",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"(?<=[a-zà-ÿ0-9)A-Z,] )(is|are|was|were|can|could|will|would|should)(?= ([a-z-]+))"
)
_PERFECT = re.compile(r"\b(has|have|had)(?= ([a-z]+))")
_THERE = re.compile(r"\b[Tt]here (?:is|was|are|were)( an?)? ([a-z-]+)")
_NOT_BEFORE = word_set(
    "not no only also just still yet even both either neither thus therefore then now all each "
    "always probably perhaps likely about approximately around nearly some to that as born of "
    "usually often more less further currently"
)
_NOT_BEHIND = word_set("what how why as than there that we this i which who")
_PARTICIPLES = word_set(
    "been become begun built come fallen found given gone grown held kept known led lost made "
    "risen seen shown sold taken taught undergone won written"
)
_SUBJECTS = word_set("he she it they who which that")
_NO_SUBJECT = word_set(
    "the a an his her its their our my your this these those of in on at for from with by to "
    "and or but as than then not also we i you so be been being is are was were has have had "
    "while when after before since because"
)
_VERB = re.compile(r"(?<=[a-zA-Zà-ÿ] )([a-z]{3,})(?= (?!a (?:total|number)\b|\d)(\S+))")
_OBJECT = re.compile(r"(?:the|a|an|his|her|its|their|[A-Z]\w+)$")
_DENIED = re.compile(
    r"\b(?:(?P<be>is|are|was|were|can|could|will|would|should|has|have|had) not|"
    r"(?P<do>does|do|did) not (?P<verb>[a-z]+)|(?P<can>cannot)|(?P<longer>no longer))(?= )"
)
_NO_NOUN = re.compile(
    r"\bno ((?:statistically |clinically )?(?:significant |consistent |clear |apparent |major |"
    r"detectable |independent |direct |strong |additional )?)(difference|effect|association|"
    r"correlation|change|increase|improvement|relationship|evidence|benefit|impact|influence|"
    r"advantage)(s?)\b"
)
_POLAR = re.compile(
    r"\b(?:any|either|nor|neither|ever|until|unless|but|yet|at all|whether|anymore|only|rather|"
    r"necessarily|just|if)\b",
    re.IGNORECASE,
)


def propose_denials(answer: Answer, random: Random) -> Iterator[Proposal]:
    """Each statement that can be turned round; the three ways take turns in random order."""
    if not answer.english:
        return
    ways = [
        [*_denied(answer)],
        [*_affirmed(answer)],
        [*propose_antonyms(answer, DENIAL)],
    ]
    for way in ways:
        random.shuffle(way)
    random.shuffle(ways)
    while any(ways):
        for way in ways:
            if way:
                yield way.pop()


def _plain_sentences(answer: Answer) -> Iterator[tuple[int, int]]:
    """Those that hold no denial and no quote; not the first, which says what the subject is."""
    spans = answer.sentences
    for start, end in spans[1:]:
        sentence = answer.text[start:end]
        if not DENIAL.search(sentence) and not re.search(r"[\"“”?]", sentence):
            yield start, end


def _denied(answer: Answer) -> Iterator[Proposal]:
    text = answer.text
    for start, end in _plain_sentences(answer):
        for match in _THERE.finditer(text, start, end):
            yield from _there(match)
        for match in _AUXILIARY.finditer(text, start, end):
            behind = word_before(text, match.start()).lower()
            if behind not in _NOT_BEHIND and _may_deny(text, start, match):
                new = "not" if match[1] == "can" else " not"
                yield Proposal("denial", [Edit(match.end(), match.end(), new)])
        for match in _PERFECT.finditer(text, start, end):
            if not _may_deny(text, start, match):
                continue
            if match[2].endswith("ed") or match[2] in _PARTICIPLES:
                yield Proposal("denial", [Edit(match.end(), match.end(), " not")])
            elif match[2] in ("a", "an", "the") and not re.match(
                r" an? (?:total )?population", text[match.end() :]
            ):
                do = {"has": "does", "have": "do", "had": "did"}[match[1]]
                yield Proposal("denial", [Edit(match.start(), match.end(), f"{do} not have")])
        yield from _verbs(text, start, end)


def _may_deny(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether `not` fits behind a word and makes the sentence false."""
    behind = word_before(text, match.start()).lower()
    if match[2] in _NOT_BEFORE or behind in ("we", "i", "and", "or", "to", ""):
        return False
    return not _SCOPE.search(text[start : match.end() + 20])


def _there(match: re.Match[str]) -> Iterator[Proposal]:
    if match[1]:
        yield Proposal("denial", [Edit(match.start(1), match.end(1), " no")])
    elif match[2] in ("significant", "statistically", "important", "marked", "strong", "clear"):
        yield Proposal("denial", [Edit(match.start(2), match.start(2), "no ")])


def _verbs(text: str, start: int, end: int) -> Iterator[Proposal]:
    """Verbs that are denied with do."""
    for match in _VERB.finditer(text, start, end):
        verb = match[1]
        if (verb not in THIRDS and verb not in PASTS) or verb in ("has", "had"):
            continue
        behind = word_before(text, match.start())
        if not behind or _SCOPE.search(text[start : match.end() + 20]):
            continue
        sure = behind.lower() in _SUBJECTS
        noun = (
            behind.lower() not in _NO_SUBJECT
            and not behind.endswith("ly")
            and behind[-1:].isalpha()
        )
        near = re.findall(r"[a-z]+", text[max(start, match.start() - 30) : match.start()])[-3:]
        helped = {"is", "are", "was", "were", "be", "been", "has", "have", "had", "to"} & set(near)
        if behind.lower() == "that" and helped:
            continue
        if verb in THIRDS and (
            sure or (noun and not helped and (verb not in AMBIGUOUS or behind[0].isupper()))
        ):
            yield Proposal("denial", [Edit(*match.span(1), f"does not {THIRDS[verb]}")])
        elif verb in PASTS:
            clear = verb in CLEAR_PASTS or (verb not in NAMING and _OBJECT.match(match[2]))
            if sure or (noun and not helped and clear):
                yield Proposal("denial", [Edit(*match.span(1), f"did not {PASTS[verb]}")])


def _affirmed(answer: Answer) -> Iterator[Proposal]:
    """Denials taken out."""
    text = answer.text
    for start, end in answer.sentences:
        sentence = text[start:end]
        if len(DENIAL.findall(sentence)) != 1 or re.search(r"[\"“”?]", sentence):
            continue
        if _POLAR.search(sentence):
            continue
        for match in _DENIED.finditer(text, start, end):
            yield Proposal("denial removed", [_without_denial(match)])
        for match in _NO_NOUN.finditer(text, start, end):
            first = (match[1] + match[2]).split()[0]
            plural = match[3] or match[2] == "evidence"
            article = "" if plural else "an " if takes_an(first) else "a "
            yield Proposal("denial removed", [Edit(match.start(), match.start() + 3, article)])


def _without_denial(match: re.Match[str]) -> Edit:
    if match["can"]:
        return Edit(*match.span(), "can")
    if match["longer"]:
        return Edit(*match.span(), "still")
    if match["be"]:
        return Edit(*match.span(), match["be"])
    verb, do = match["verb"], match["do"]
    if verb not in VERBS:
        return Edit(*match.span(), f"{do} {verb}")
    new = past(verb) if do == "did" else third(verb) if do == "does" else verb
    return Edit(*match.span(), new)
