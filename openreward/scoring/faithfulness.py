"""How faithful an answer is: its statements of fact, each against the evidence found for it.

The score is ten times the mean credit of the statements (full 1, partial 0.5, none 0). One that
has no verdict leaves the dimension without a score; an answer without statements is an outcome of
its own, for there is nothing to be faithful or not.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TypeAlias

from openreward.agent import together
from openreward.errors import PolicyError
from openreward.parse import cited_numbers
from openreward.scoring.asking import Asking, Reply, Spent
from openreward.scoring.parse import Stated
from openreward.scoring.part import Part, broken, without
from openreward.scoring.prompts import statements as ask_statements
from openreward.scoring.prompts import support as ask_support
from openreward.scoring.records import (
    CREDIT,
    CheckedStatement,
    Dimension,
    DimensionScore,
    Language,
    StatementStatus,
)
from openreward.scoring.sources import Found, Source

_NAME: Dimension = "faithfulness"
_WORST_FIRST: tuple[StatementStatus, ...] = ("error", "refused", "unparsed", "unserved")
_List: TypeAlias = Reply[tuple[Stated, ...]]


async def faithfulness(
    asking: Asking, source: Source, language: Language, answer: str, id: str, spent: Spent
) -> Part:
    """The score of an answer, by its statements."""
    if not answer.strip():
        return Part(without(_NAME, "no_statements", "the answer is empty"))
    settings = asking.settings
    request = ask_statements(
        language, answer, settings.statement_tokens, to_search=source.to_search
    )
    at_once: list[Coroutine[None, None, _List | PolicyError | None]] = [
        asking.ask(request, id, spent),
        _prepared(source),
    ]
    reply, problem = await together(at_once)
    assert isinstance(reply, Reply)
    if reply.value is None:
        return Part(_failed(reply))
    kept, notes = _each_once(reply.value, settings.statements)
    if not kept:
        return Part(without(_NAME, "no_statements", "the answer states no fact"))
    if isinstance(problem, PolicyError):
        return Part(broken(_NAME, problem), notes=notes)
    started = asking.clock()
    try:
        found = await source.find(kept, id)
    except PolicyError as error:
        return Part(broken(_NAME, error), notes=notes)
    spent.tool_seconds += asking.clock() - started
    statements = await together(
        [
            _check(asking, language, stated, each, f"{id}/{number}", spent)
            for number, (stated, each) in enumerate(zip(kept, found, strict=True), 1)
        ]
    )
    return Part(_combined(statements, reply), statements, notes=notes)


async def _prepared(source: Source) -> PolicyError | None:
    """Make the source ready while the statements are listed; an embedder may fail at it."""
    try:
        await source.prepare()
    except PolicyError as error:
        return error
    return None


async def _check(
    asking: Asking, language: Language, stated: Stated, found: Found, id: str, spent: Spent
) -> CheckedStatement:
    if found.status == "unserved":
        return CheckedStatement(text=stated.text, status="unserved", reason=found.reason)
    if found.status == "nothing":
        why = f"nothing was found for {stated.search!r}"
        return CheckedStatement(text=stated.text, status="ok", support="none", reason=why)
    request = ask_support(language, stated.text, found.shown, asking.settings.turn_tokens)
    reply = await asking.ask(request, id, spent)
    cited = cited_numbers(reply.text)
    return CheckedStatement(
        text=stated.text,
        status=reply.status,
        support=reply.value,
        reason=reply.reason,
        verdict=reply.text,
        evidence=tuple(
            each.model_copy(update={"cited": each.number in cited}) for each in found.evidence
        ),
        matched=found.matched,
        tries=reply.tries,
        forced=reply.forced,
        fault=reply.fault,
    )


def _failed(reply: _List) -> DimensionScore:
    """The dimension when no list of statements could be had."""
    return DimensionScore(
        name=_NAME,
        status=reply.status,
        reason=f"the list of statements: {reply.reason}",
        text=reply.text,
        tries=reply.tries,
        forced=reply.forced,
        fault=reply.fault,
    )


def _combined(statements: Sequence[CheckedStatement], reply: _List) -> DimensionScore:
    count = len(statements)
    for status in _WORST_FIRST:
        bad = [each for each in statements if each.status == status]
        if bad:
            why = f"{len(bad)} of {count} statements have no verdict: {bad[0].reason}"
            return without(_NAME, status, why, bad[0].fault)
    credit = sum(CREDIT[each.support] for each in statements if each.support is not None)
    return DimensionScore(
        name=_NAME,
        status="ok",
        score=10 * credit / count,
        tries=reply.tries,
        forced=reply.forced,
    )


def _each_once(given: Sequence[Stated], most: int) -> tuple[tuple[Stated, ...], tuple[str, ...]]:
    """The statements without repetitions, at most so many, and what was left out in words."""
    different = dict[str, Stated]()
    for each in given:
        different.setdefault(" ".join(each.text.casefold().split()), each)
    kept = tuple(different.values())
    notes = []
    if len(kept) < len(given):
        notes.append(f"{len(given) - len(kept)} of {len(given)} statements repeat an earlier one")
    if len(kept) > most:
        notes.append(f"of {len(kept)} statements the first {most} are checked")
    return kept[:most], tuple(notes)
