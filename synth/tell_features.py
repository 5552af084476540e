"""What can be seen of an answer without reading it: lengths and form, and words that say nothing.

Style words are those of grammar, those that join or hedge, marks, and classes in the place of
content: a number, a year, a name, a sentence of so many words. No word of content is a feature, so
what they tell is how something is said. The words are English; in other languages marks and
classes alone are seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from openreward.synth.pair_table import words_in

_GRAMMAR = """
a about above across after against all along also although am among an and another any anyone
anything are around as at away be because been before behind being below beneath beside besides
between beyond both but by can cannot could did do does doing done down during each either else
enough even ever every everyone everything few for former from had has have having he hence her here
hers herself him himself his how i if in instead into is it its itself just last latter least less
like many may me might mine more most much must my myself near neither never no nobody none nor not
nothing now of off often on once one ones only onto or other others ought our ours ourselves out
outside over own per please quite rather same several shall she should since so some someone
something still such than that the their theirs them themselves then there these they this those
three through throughout till to together too toward towards two under until unto up upon us very
via was we were what whatever when whenever where whereas wherever whether which while who whoever
whom whose why will with within without would yet you your yours yourself yourselves
don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't it's i'm i've you're
that's there's let's
"""
_JOINING = """
accordingly actually additionally afterwards altogether alternatively anyway basically certainly
clearly consequently conversely despite e.g etc eventually example examples finally first firstly
following furthermore however importantly indeed initially instance lastly later likewise mainly
meanwhile moreover namely nevertheless next nonetheless notably obviously otherwise overall
particularly previously primarily second secondly similarly simply specifically subsequently
summary therefore third thirdly thus ultimately unlike conclusion fact regarding particular various
including includes include included based known called involves involve provides provide
"""
_HEDGING = """
about almost apparently appear appears approximately arguably around aware believe believed could
depending essentially estimated exact fairly general generally guess however largely likely
maybe mostly nearly normally often overall perhaps possible possibly potential potentially
presumably probably reportedly roughly seem seems sometimes somewhat specific suggest suggests
supposedly sure tend tends think thought typically uncertain unclear unfortunately unsure usual
usually varies vary access available information knowledge unable sorry recommend consult depend
depends
"""
STYLE_WORDS = frozenset(f"{_GRAMMAR} {_JOINING} {_HEDGING}".split())

FORM = (
    "characters",
    "words",
    "sentences",
    "words of a sentence",
    "characters of a word",
    "words said once",
    "paragraphs",
    "list items",
    "headings",
    "bold",
    "numbers",
    "names",
    "capitals",
    "commas",
    "brackets",
    "quotes",
    "question marks",
    "exclamation marks",
    "colons",
    "ends in a stop",
)
"""The features of form, in their order."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:]\d+)*|[^\w\s]|_+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*]*\s+|(?<=[。！？])|\n+")
_ITEM = re.compile(r"^[ \t]*(?:[-*•–+]|\(?\d{1,3}[.)])[ \t]", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t].*|\*\*[^*\n]{1,100}\*\*:?[ \t]*)$", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__")
_BREAK = re.compile(r"\n\s*\n")
_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~“”‘’–—…•")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_LONGEST = (5, 10, 15, 20, 30)  # words of a sentence, at most: its buckets


def form_of(text: str) -> list[float]:
    """The features of form of an answer, as `FORM` names them."""
    words, sentences = words_in(text), _sentences(text)
    tokens = _TOKEN.findall(text)
    said = [token.casefold() for token in tokens if token[0].isalpha()]
    counts = Counter(text)
    letters = sum(map(len, said))
    numbers = sum(token[0].isdigit() for token in tokens)
    found = (
        len(text),
        words,
        len(sentences),
        words / max(1, len(sentences)),
        letters / max(1, len(said)),
        len(set(said)) / max(1, len(said)),
        len(_BREAK.findall(text)),
        len(_ITEM.findall(text)),
        len(_HEADING.findall(text)),
        len(_BOLD.findall(text)),
        numbers,
        sum(map(_names, sentences)),
        sum(map(str.isupper, text)) / max(1, letters),
        counts[","],
        counts["("] + counts["["],
        counts['"'] + counts["“"] + counts["‘"],
        counts["?"],
        counts["!"],
        counts[":"],
        text.rstrip().endswith((".", "!", "?", "。")),
    )
    return [float(each) for each in found]


def style_of(text: str) -> Counter[str]:
    """The style words, marks and classes of an answer, counted."""
    found = Counter[str]()
    for sentence in _sentences(text):
        found.update(filter(None, map(_class, _TOKEN.findall(sentence))))
        found["<name>"] += _names(sentence)
        found[_bucket(words_in(sentence))] += 1
    for name, pattern in (("<list item>", _ITEM), ("<heading>", _HEADING), ("<bold>", _BOLD)):
        found[name] += len(pattern.findall(text))
    found["<paragraph>"] += len(_BREAK.findall(text))
    return +found


def _class(token: str) -> str | None:
    """What a token counts as; a word of content is nothing."""
    if token[0].isdigit():
        return "<year>" if _YEAR.fullmatch(token) else "<number>"
    if not token[0].isalpha():
        return token[0] if token[0] in _MARKS else "<other mark>"
    word = token.casefold().replace("’", "'")
    return word if word in STYLE_WORDS else None


def _names(sentence: str) -> int:
    """Words with a capital that do not begin the sentence; I is none."""
    words = [token for token in _TOKEN.findall(sentence) if token[0].isalpha()]
    return sum(word[0].isupper() and len(word) > 1 for word in words[1:])


def _bucket(words: int) -> str:
    low = 0
    for high in _LONGEST:
        if words <= high:
            return f"<sentence of {low + 1} to {high} words>"
        low = high
    return f"<sentence of over {low} words>"


def _sentences(text: str) -> list[str]:
    return [part for part in _split(text) if words_in(part)]


def _split(text: str) -> Iterator[str]:
    start = 0
    for border in _SENTENCE_END.finditer(text):
        yield text[start : border.end()]
        start = border.end()
    yield text[start:]
