"""Wrong statements by a word turned into its opposite: "higher" for "lower", "won" for "lost".

A pair of words works both ways, some only one way; a context that a word must or must not have
keeps fixed terms (lower limb, upper class, more than) out. Sentences in which numbers would give
the change away, or that hold both words or a denial, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from openreward.synth.corrupt_text import Answer, Edit, Proposal, article_fits, like_case

_BOTH_WAYS = (
    "increase decrease|increases decreases|increased decreased|increasing decreasing|"
    "higher lower|larger smaller|longer shorter|better worse|faster slower|stronger weaker|"
    "older younger|earlier later|greater smaller|largest smallest|highest lowest|"
    "longest shortest|oldest youngest|best worst|positively negatively|positive negative|"
    "rise fall|rises falls|rose fell|improves worsens|improved worsened|improving worsening|"
    "above below|upper lower|northern southern|eastern western|northeastern southwestern|"
    "northwestern southeastern|north south|east west|significant insignificant|"
    "effective ineffective|likely unlikely|common uncommon|able unable|superior inferior|"
    "strong weak|successful unsuccessful|directly indirectly|"
    "outperforms underperforms|overestimates underestimates|safe unsafe|accelerates slows|"
    "strengthens weakens|maximum minimum|external internal|frequently rarely|"
    "often rarely|major minor|gained lost|accepted rejected|supports opposes|supported opposed|"
    "appropriate inappropriate|reliable unreliable|necessary unnecessary|"
    "poor good|wealthiest poorest|fewer more|more less|most least|majority minority|male female|"
    "men women|before after|warmer colder|lightest heaviest|expensive inexpensive"
)
_ONE_WAY = (
    "reduces increases|reduced increased|reducing increasing|reduce increase|enhances weakens|"
    "enhanced weakened|enhance weaken|lowers raises|boosts lowers|feasible infeasible|"
    "early late|won lost|rapidly slowly|widely rarely|similar different|efficient inefficient|"
    "popular unpopular"
)
_PAIRS = [pair.split() for pair in _BOTH_WAYS.split("|")]
OPPOSITES = {b: a for a, b in reversed(_PAIRS)} | {a: b for a, b in reversed(_PAIRS)}
OPPOSITES |= dict(pair.split() for pair in _ONE_WAY.split("|"))
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(OPPOSITES))})(?![\w-])", re.IGNORECASE)
_ADJECTIVE = (
    r" (?:\w+(?:able|ible|ful|ous|ive|al|ent|ant|ic|ly)|likely|common|often|accurate|"
    r"efficient|famous|popular|complex|severe)\b"
)
_MEASURED = r"(?:significantly|was|were|is|are|much|a|had|have|has|to|showed|at|with|and|,) $"
_IN_TIME = r"[a-z](?<!named)(?<!called)(?<!titled)(?<!look)(?<!looked)(?<!year)(?<!day) $"
_ONE = r" (?:the|two|three|four|five|a|an) "
_CONTEST = r"(?:war|battle|election|final|match|case|title|championship)"
_MUST: dict[str, tuple[str, str]] = {  # what stands before it, and behind
    "more": ("", rf"(?:{_ADJECTIVE}| than \d)"),
    "less": ("", rf"(?:{_ADJECTIVE}| than \d)"),
    "most": (r"\bthe $", _ADJECTIVE),
    "least": (r"\bthe $", _ADJECTIVE),
    "fewer": ("", r" [a-z]+s\b"),
    "lower": (_MEASURED, ""),
    "before": (_IN_TIME, r" (?:the|his|her|its|their|being|[A-Z1-9])"),
    "after": (_IN_TIME, r" (?:the|his|her|its|their|being|[A-Z1-9])"),
    "early": ("", r" (?:\d{4}s|\w+ century)"),
    "won": ("", rf"{_ONE}(?!.{{0,30}}(?:[Aa]ward|[Pp]rize|Oscar|Grammy|Emmy|[Mm]edal))"),
    "lost": ("", rf"{_ONE}(?:\w+ )?{_CONTEST}"),
    "gained": ("", r" (?:control|power|independence|popularity|support|territory|influence)"),
    "better": (_MEASURED, ""),
    "worse": (_MEASURED, ""),
    "reduces": ("", "(?! to)"),
    "reduced": ("", "(?! to)"),
    "rises": ("", " (?:to|by|in|from|with)"),
    "falls": ("", " (?:to|by|in|from|with)"),
    "best": (r"\bthe $", ""),
    "worst": (r"\bthe $", ""),
    "north": ("", r" of\b"),
    "south": ("", r" of\b"),
    "east": ("", r" of\b"),
    "west": ("", r" of\b"),
    "above": (r"[a-z] $", r" (?:the|\d)"),
    "below": (r"[a-z] $", r" (?:the|\d)"),
    "rise": (r"\b(?:a|the|to) $", r" (?:in|of)\b"),
    "fall": (r"\b(?:a|the|to) $", r" (?:in|of)\b"),
    "able": (r"\b(?:is|was|are|were|been) $", " to"),
    "unable": (r"\b(?:is|was|are|were|been) $", " to"),
    "major": (r"\b(?:a|the|two|three) $", r" [a-z]"),
    "minor": (r"\b(?:a|the|two|three) $", r" [a-z]"),
    "good": (r"\b(?:a|with|is|was|were|are|in) $", ""),
    "poor": (r"\b(?:a|with|is|was|were|are) $", ""),
    "often": (r"\b(?:is|are|was|were) $", ""),
    "similar": (r"\b(?:is|are|was|were) $", r"(?: in|\.|,)"),
    "popular": (r"\b(?:is|was|became|become|a|very) $", r" (?:in|among|with)\b"),
    "efficient": (r"\b(?:is|was|are|an) $", ""),
    "men": (r"\b(?:in|for|among|of|the) $", ""),
    "women": (r"\b(?:in|for|among|of|the) $", ""),
    "positive": (r"\b(?:a|was|were|is|are|had|significant) $", ""),
    "negative": (r"\b(?:a|was|were|is|are|had|significant) $", ""),
    "upper": (r"\b(?:the|an) $", r" (?:part|half|reaches|slopes|end|layers?)\b"),
    "strong": (r"\b(?:a|with|is|was) $", ""),
    "weak": (r"\b(?:a|with|is|was) $", ""),
    "significant": (r"\b(?:was|were|is|are|statistically) $", r"(?: in|[.,])"),
    "insignificant": (r"\b(?:was|were|is|are|statistically) $", r"(?: in|[.,])"),
}  # fmt: skip
_MUST_NOT_FOLLOW = re.compile(
    r" (?:back|limbs?|extremit|bound|house|class|chamber|court|body|order|education|school|"
    r"secondary|dimension|language|model|or |"
    r"and (?:lower|smaller|higher|larger|weaker|older|western|southern|eastern|northern))"
)
_POINTS = ("north", "south", "east", "west")
_SEXES = ("male", "female", "men", "women")
_OF_ONE_SEX = re.compile(
    r"pregnan|matern|menopaus|gyn[ae]|ovar|uter|cervi|prostat|breast|virgin", re.I
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def propose_antonyms(answer: Answer, denial: re.Pattern[str]) -> Iterator[Proposal]:
    """Each word of the table that can be turned round where it stands."""
    for start, end in answer.sentences:
        sentence = answer.text[start:end]
        if denial.search(sentence) or re.search(r"[\"“”?]|\b(?:whether|versus|vs)\b", sentence):
            continue
        for match in _WORD.finditer(answer.text, start, end):
            new = _turned(answer.text, match, start, end)
            if new is not None:
                yield Proposal("antonym", [Edit(*match.span(), new)])


def _turned(text: str, match: re.Match[str], start: int, end: int) -> str | None:
    word, sentence = match[0].lower(), text[start:end]
    new = OPPOSITES[word]
    if match[0].isupper() or (match[0][0].isupper() and match.start() != start):
        return None  # belongs to a name
    before, after = _MUST.get(word, ("", ""))
    if not re.search(before, text[start : match.start()]) or not re.match(
        after, text[match.end() : end]
    ):
        return None
    if _MUST_NOT_FOLLOW.match(text[match.end() :]):
        return None
    both = len(re.findall(rf"\b{word}\b", sentence, re.IGNORECASE)) != 1
    if both or re.search(rf"\b{new}\b", sentence, re.IGNORECASE):
        return None
    if len(_FIGURE.findall(text[match.start() : end])) > 1:
        return None  # the figures would tell
    point = next((each for each in _POINTS if word.startswith(each)), None)
    if point is not None and len(re.findall(point, sentence, re.IGNORECASE)) > 1:
        return None
    if word in _SEXES and _OF_ONE_SEX.search(sentence):
        return None
    return like_case(new, match[0]) if article_fits(text, match.start(), new) else None
