"""What is wrong with a document, a query, or two answers: pure functions, the first fault counts.

Whether the document bears out an answer is read by words (`support`), or by a verifier where there
is one. A positive falls with one fact that the document lacks; a negative only where the document
bears out all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from openreward.errors import shorten
from openreward.synth.near_duplicates import overlap
from openreward.synth.pair_phrases import declines, reveals_its_text, tells_its_text
from openreward.synth.pair_records import AnswerText, PairReason, PairSettings, Problem, Support
from openreward.synth.scenario_language import is_western, read_language
from openreward.synth.scenario_parse import is_refusal
from openreward.synth.support import support
from openreward.synth.support_words import read_sentences, weights

_COPIED_RUN, _SAME_RUN = 8, 3
_SHOWN = 3  # missing facts in a detail


def check_document(text: str, settings: PairSettings) -> Problem | None:
    """Too short, or not in the language asked for."""
    words = _count(text)
    if words < settings.document_words:
        detail = f"{words} words, at least {settings.document_words} expected"
        return Problem("document_too_short", detail)
    return _foreign("document", text, settings)


def check_query(query: str, document: str, title: str, settings: PairSettings) -> Problem | None:
    """What makes a query unfit: form, language, or that it gives itself away."""
    words = _count(query)
    if not words:
        return Problem("empty", "the query")
    if is_refusal(query) or declines(query) is not None:
        return Problem("refusal", shorten(query))
    if words < settings.query_least:
        return Problem(
            "query_too_short", f"{words} words, at least {settings.query_least} expected"
        )
    if words > settings.query_most:
        return Problem("query_too_long", f"{words} words, at most {settings.query_most} expected")
    revealing = reveals_its_text(query)
    if revealing is not None:
        return Problem("self_revealing", shorten(revealing))
    if not _weights(query) & _weights(f"{title}\n{document}"):
        return Problem("off_document", "no word of weight in common")
    return _foreign("query", query, settings) or _strange("query", query, document, settings)


def measure(text: str, document: str, query: str) -> tuple[Support, float]:
    """How far the document bears an answer out, and the share of its runs of eight words in it."""
    runs = _runs(text, _COPIED_RUN)
    copied = len(runs & _runs(document, _COPIED_RUN)) / len(runs) if runs else 0.0
    return support(text, document, query), round(copied, 4)


def check_answers(
    query: str,
    positive: AnswerText,
    negative: AnswerText,
    document: str,
    settings: PairSettings,
) -> Problem | None:
    """What makes two answers no pair. Those not measured before are measured here."""
    answers = {"positive": positive, "negative": negative}
    measured = {name: _measured(each, document, query) for name, each in answers.items()}
    return (
        _check_forms(answers, settings)
        or _check_ratio(positive.text, negative.text, settings)
        or _check_words(answers)
        or _check_copies(answers, measured, settings)
        or next(filter(None, (_foreign(n, a.text, settings) for n, a in answers.items())), None)
        or next(
            filter(None, (_strange(n, a.text, document, settings) for n, a in answers.items())),
            None,
        )
        or _check_positive(positive, measured["positive"][0], settings)
        or _check_negative(negative, measured["negative"][0], settings)
    )


def _check_forms(answers: dict[str, AnswerText], settings: PairSettings) -> Problem | None:
    for name, answer in answers.items():
        if is_refusal(answer.text) or declines(answer.text) is not None:
            return Problem("refusal", f"{name}: {shorten(answer.text)}")
    for name, answer in answers.items():
        words = _count(answer.text)
        if words < settings.answer_least:
            detail = f"{name}: {words} words, at least {settings.answer_least} expected"
            return Problem("answer_too_short", detail)
    return None


def _check_ratio(positive: str, negative: str, settings: PairSettings) -> Problem | None:
    lengths = _count(positive), _count(negative)
    if max(lengths) <= settings.ratio * min(lengths):
        return None
    detail = f"{lengths[0]} and {lengths[1]} words, at most {settings.ratio:g} times expected"
    return Problem("length_ratio", detail)


def _check_words(answers: dict[str, AnswerText]) -> Problem | None:
    for name, answer in answers.items():
        tell = tells_its_text(answer.text)
        if tell is not None:
            return Problem("tell", f"{name}: {shorten(tell)}")
    return None


def _check_copies(
    answers: dict[str, AnswerText],
    measured: dict[str, tuple[Support, float]],
    settings: PairSettings,
) -> Problem | None:
    for name, (_, copied) in measured.items():
        if copied >= settings.copied:
            detail = f"{name}: {copied:.2f} of its runs of {_COPIED_RUN} words, from "
            return Problem("copied", f"{detail}{settings.copied:g} on it is a copy")
    runs = [_runs(answer.text, _SAME_RUN) for answer in answers.values()]
    share = overlap(runs[0], runs[1])
    if share >= settings.same:
        return Problem("same_answer", f"{share:.2f} of their runs of {_SAME_RUN} words in common")
    return None


def _check_positive(answer: AnswerText, found: Support, settings: PairSettings) -> Problem | None:
    reason: PairReason = "positive_unsupported"
    if answer.verified is not None:
        return _verified(answer, reason, answer.verified != "full")
    if found.missing:
        return Problem(reason, f"not in the document: {_listed(found.missing)}")
    if found.share < settings.supported:
        detail = f"{found.share:.2f} of its words are in the document, at least "
        return Problem(reason, f"{detail}{settings.supported:g} expected")
    return None


def _check_negative(answer: AnswerText, found: Support, settings: PairSettings) -> Problem | None:
    reason: PairReason = "negative_supported"
    if answer.verified is not None:
        return _verified(answer, reason, answer.verified == "full")
    if not found.missing and found.share > settings.unsupported:
        return Problem(reason, f"{found.share:.2f} of its words are in the document, and its facts")
    return None


def _verified(answer: AnswerText, reason: PairReason, wrong: bool) -> Problem | None:
    if answer.verified == "unparsed":
        return Problem("unverified", "what the verifier wrote names no one word")
    return Problem(reason, f"the verifier says {answer.verified}") if wrong else None


def _measured(answer: AnswerText, document: str, query: str) -> tuple[Support, float]:
    if answer.support is not None and answer.copied is not None:
        return answer.support, answer.copied
    return measure(answer.text, document, query)


def _foreign(what: str, text: str, settings: PairSettings) -> Problem | None:
    found = read_language(text) if settings.language == "english" else None
    return Problem("language", f"{what}: {found.why}") if found and not found.english else None


def _strange(what: str, text: str, document: str, settings: PairSettings) -> Problem | None:
    """Letters of a script that English takes no words from, and that the document lacks."""
    if settings.language != "english":
        return None
    known = set(document)
    found = [char for char in text if char not in known and not is_western(char)]
    return Problem("language", f"{what}: {shorten(''.join(found))} in it") if found else None


def _listed(missing: Sequence[str]) -> str:
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    return ", ".join(shorten(each) for each in missing[:_SHOWN]) + more


def _count(text: str) -> int:
    return len(_keys(text))


def _keys(text: str) -> list[str]:
    return [word.key for sentence in read_sentences(text) for word in sentence.words]


def _weights(text: str) -> set[str]:
    return {key for sentence in read_sentences(text) for key in weights(sentence.words)}


def _runs(text: str, length: int) -> set[int]:
    keys = _keys(text)
    return {hash(tuple(keys[at : at + length])) for at in range(len(keys) - length + 1)}
