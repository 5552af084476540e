"""`openreward demo`: ten pairs judged on the embedded default, and one trajectory from end to end.

The pairs ship with the package; the answers can be checked against the Wikipedia introductions. The
small default model is not trained as a judge: what it shows is the machine, not its judgement.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from openreward.agent import Limits
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice, find_model, open_policy
from openreward.cli.show import judgment_lines, print_lines
from openreward.cli.tools import OpenedTools, ToolFlags
from openreward.counting import searched
from openreward.errors import PolicyError, UserError
from openreward.judge import Judge, JudgeSettings
from openreward.printable import one_line
from openreward.records import Row, read_jsonl
from openreward.resume import JsonlWriter
from openreward.types import Judgment, Pair, Vote

UNTRAINED = (
    "The default model is a small general model, NOT trained as a judge: expect it to name the "
    "answer shown first, so that its two orders disagree (a tie). A trained adapter is to come; "
    "a better judge today: openreward judge --endpoint URL --model NAME."
)
LEGEND = """\
A few minutes on two cores. AB -> 1: answer 1 was shown first, and answer 1 was named; BA -> 2:
answer 2 was shown first, and answer 2 was named. A winner is named in both orders, else it is a
tie. label: the better answer, as whoever wrote the pair knows it. read: what the searches brought.
"""
MORE = "All of it: openreward demo -o demo.jsonl, then openreward show demo.jsonl --id "
AT_ONCE = 4
LIMITS = Limits(calls=2, turn_tokens=200)  # so that two cores get through it in minutes


def command(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the judgments in this new file.")
    ] = None,
    model: o.Model = None,
    index: o.Index = None,
) -> None:
    """Judge ten shipped pairs with real searches, and show one trajectory whole."""
    judgments = asyncio.run(_demo(model, ToolFlags(index, passages=2), demo_pairs()))
    if output is not None:
        with JsonlWriter(output) as writer:
            for judgment in judgments:
                writer.append(judgment)
    shown = next((each for each in judgments if each.evidence), judgments[0])
    typer.echo(f"\nOne judgment from end to end ({shown.id}, the first order):\n")
    print_lines(judgment_lines(shown, only=1))
    typer.echo("\n" + "\n".join(_summary(judgments)))


def demo_pairs() -> list[Pair]:
    """The pairs that ship with the package."""
    with as_file(files("openreward") / "data" / "demo_pairs.jsonl") as path:
        return [row.record for row in read_jsonl(path, Pair) if isinstance(row, Row)]


async def _demo(model: str | None, flags: ToolFlags, pairs: list[Pair]) -> list[Judgment]:
    async with flags.open() as opened:
        names = ", ".join(tool.spec.name for tool in opened.tools)
        typer.echo(f"model: {find_model(model).name}")
        typer.echo(f"tools: {names}; {len(pairs)} pairs, each in both orders")
        typer.echo(LEGEND)
        return await _judge(EngineChoice(model=model), opened, pairs)


async def _judge(choice: EngineChoice, opened: OpenedTools, pairs: list[Pair]) -> list[Judgment]:
    gate = asyncio.Semaphore(AT_ONCE)
    settings = JudgeSettings(limits=LIMITS)
    async with open_policy(choice, slots=settings.trajectories * AT_ONCE) as policy:
        judge = Judge(policy, opened.tools, settings)

        async def one(pair: Pair) -> Judgment:
            async with gate:
                judgment = await judge.judge(pair)
            if judgment.fault is not None:
                raise PolicyError(judgment.fault, judgment.reason)
            typer.echo(_line(pair, judgment))
            return judgment

        return list(await asyncio.gather(*map(one, pairs)))


def _line(pair: Pair, judgment: Judgment) -> str:
    said = "tie" if judgment.winner is None else f"answer {judgment.winner + 1}"
    if judgment.status not in ("ok", "tie"):
        said = judgment.status
    each = ", ".join(_vote(vote) for vote in judgment.votes)
    titles = dict.fromkeys(item.passage.title for item in judgment.evidence)
    read = one_line(", ".join(titles)) or "nothing"
    return f"{pair.id:22} {said:9} ({each}); label: answer {_label(pair)}; read: {read}"


def _vote(vote: Vote) -> str:
    said = vote.status if vote.winner is None else str(vote.winner + 1)
    return f"{'AB' if vote.order == (0, 1) else 'BA'} -> {said}"


def _label(pair: Pair) -> int:
    if pair.label is None or pair.label == "tie":
        raise UserError(f"demo pair {pair.id}: expected a label of 0 or 1, got {pair.label!r}")
    return pair.label + 1


def _summary(judgments: list[Judgment]) -> list[str]:
    votes = [vote for each in judgments for vote in each.votes]
    counts = Counter(each.status for each in judgments)
    read = sum(vote.status in ("ok", "tie") for vote in votes)
    looked = sum(searched(vote.trajectory) for vote in votes)
    right = sum(each.status == "ok" and each.winner == each.label for each in judgments)
    first = sum(vote.winner == vote.order[0] for vote in votes if vote.winner is not None)
    named = sum(vote.winner is not None for vote in votes)
    return [
        f"{len(judgments)} pairs: " + ", ".join(f"{n} {status}" for status, n in counts.items()),
        f"verdicts that could be read: {read} of {len(votes)}",
        f"trajectories with a real search: {looked} of {len(votes)}",
        f"right in both orders: {right} of {len(judgments)}",
        f"verdicts for the answer shown first: {first} of {named}",
        UNTRAINED,
        MORE + judgments[0].id,
    ]
