"""`openreward show FILE`: one judgment's trajectories, as a person reads them.

FILE is what `openreward judge` wrote. Everything in it may be untrusted text: it is printed with
`visible`, and never as markup. Without a terminal the same lines come plain and unwrapped.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openreward.errors import RecordError, UserError, shorten
from openreward.printable import one_line, visible

if TYPE_CHECKING:
    from openreward.types import Evidence, Judgment, Passage, ToolResult, Trajectory, Turn, Vote

Line = tuple[str, str]  # text, rich style

HEAD, NAME, FAINT, GOOD, BAD = "bold", "cyan", "dim", "green", "red"


def command(
    file: Annotated[Path, typer.Argument(help="JSONL of judgments, as `openreward judge` writes.")],
    id: Annotated[str | None, typer.Option(help="The judgment with this id.")] = None,
    row: Annotated[int | None, typer.Option(min=1, help="The judgment on this line.")] = None,
    vote: Annotated[int | None, typer.Option(min=1, help="Only this vote, from 1.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The record itself, as JSON.")] = False,
) -> None:
    """Show one judgment: its turns, calls, passages, verdicts and evidence."""
    if id is not None and row is not None:
        raise UserError("expected --id or --row, got both; leave one out")
    judgment = find(file, id, row)
    if vote is not None and vote > len(judgment.votes):
        raise UserError(f"--vote {vote}: judgment {judgment.id!r} has {len(judgment.votes)} votes")
    if as_json:
        chosen = judgment.votes if vote is None else judgment.votes[vote - 1 : vote]
        shown = judgment.model_copy(update={"votes": chosen})
        typer.echo(json.dumps(shown.model_dump(mode="json")))  # ASCII: nothing in it can act
    else:
        print_lines(judgment_lines(judgment, vote))


def find(file: Path, id: str | None = None, line: int | None = None) -> Judgment:
    """The judgment with this id, on this line, or the first of the file; else `RecordError`."""
    from openreward.records import Row, read_rows
    from openreward.types import Judgment

    ids, broken = [], []
    for row in read_rows(file, Judgment):
        if line is not None and row.line != line:
            continue
        if not isinstance(row, Row):
            broken.append(row.message)
        elif id is None or row.record.id == id:
            return row.record
        else:
            ids.append(row.record.id)
    raise RecordError(_not_found(file, id, line, ids, broken))


def _not_found(
    file: Path, id: str | None, line: int | None, ids: list[str], broken: list[str]
) -> str:
    name = shorten(str(file))
    if not ids and not broken:
        there = "is empty" if line is None else f"has nothing on line {line}"
        return f"{name} {there}; expected judgments as `openreward judge` writes them"
    unreadable = f"{len(broken)} that cannot be read, the first: {broken[0]}" if broken else ""
    if id is None:
        return f"{name}: expected judgments as `openreward judge` writes them; rows: {unreadable}"
    some = ", ".join(shorten(each, 40) for each in ids[:5]) + (", ..." if len(ids) > 5 else "")
    message = f"{name} has no judgment with id {shorten(id)}; it has {len(ids)}: {some or 'none'}"
    return f"{message}; and {unreadable}" if broken else message


def print_lines(lines: Iterator[Line]) -> None:
    """Print lines in their styles: wrapped at their indent on a terminal, elsewhere not at all."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for text, style in lines:
        bare = text.lstrip(" ")
        if console.is_terminal and bare:
            indent = len(text) - len(bare)
            console.print(Padding(Text(bare, style), (0, 0, 0, indent), expand=False))
        else:
            console.print(Text(text, style), soft_wrap=True)


def judgment_lines(judgment: Judgment, only: int | None = None) -> Iterator[Line]:
    """A judgment, or one of its votes counted from 1, as lines that are safe to print."""
    label = "" if judgment.label is None else f" (label: {judgment.label})"
    yield f"{one_line(judgment.id)}: {_outcome(judgment)}{label}", HEAD
    if judgment.reason:
        yield from _indented(judgment.reason, "  ", BAD)
    for note in judgment.notes:
        yield from _indented(f"note: {note}", "  ", FAINT)
    if not judgment.votes:
        yield "  no trajectory was run", BAD
    for number, vote in enumerate(judgment.votes, 1):
        if only in (None, number):
            yield "", ""
            yield from _vote_lines(number, vote)
    yield "", ""
    yield f"in all: {_cost(judgment)}", FAINT


def _outcome(judgment: Judgment | Vote) -> str:
    if judgment.winner is None:
        return judgment.status
    return f"{judgment.status}, responses[{judgment.winner}] is better"


def _cost(record: Judgment | Trajectory) -> str:
    usage, times = record.usage, record.times
    return (
        f"{usage.prompt_tokens} prompt tokens ({usage.cached_tokens} cached),"
        f" {usage.completion_tokens} written; {times.total:.2f} s"
        f" (engine {times.policy:.2f}, tools {times.tools:.2f})"
    )


def _vote_lines(number: int, vote: Vote) -> Iterator[Line]:
    trajectory = vote.trajectory
    places = enumerate(vote.order)
    shown = ", ".join(f"{chr(65 + place)}: responses[{index}]" for place, index in places)
    yield f"vote {number} ({shown}): {_outcome(vote)}", HEAD
    yield f"  {one_line(trajectory.model)}, {trajectory.path} path", FAINT
    for message in trajectory.prompt:
        yield f"  {message.role}", NAME
        yield from _indented(message.content, "    ", FAINT)
    ledger = deque(trajectory.evidence)  # in the order in which calls brought it
    for place, turn in enumerate(trajectory.turns, 1):
        yield from _turn_lines(place, turn, ledger)
    forced = " (forced form)" if trajectory.verdict.forced else ""
    style = GOOD if trajectory.verdict.status == "ok" else BAD
    yield (
        f"  verdict: {trajectory.verdict.status}{forced}, stopped by: {trajectory.stop_reason}",
        style,
    )
    if trajectory.error:
        yield from _indented(f"{trajectory.fault or 'error'}: {trajectory.error}", "    ", BAD)
    yield from _ledger_lines(trajectory.evidence)
    yield f"  {_cost(trajectory)}", FAINT


def _turn_lines(number: int, turn: Turn, ledger: deque[Evidence]) -> Iterator[Line]:
    forced = ", forced form" if turn.forced else ""
    wrote = f"{turn.usage.completion_tokens} tokens, {one_line(turn.finish_reason)}{forced}"
    yield f"  turn {number} ({wrote})", NAME
    yield from _indented(turn.text, "    ")
    results = {result.call_id: result for result in turn.results}
    for call in turn.tool_calls:
        arguments = one_line(json.dumps(call.arguments, ensure_ascii=False))
        yield f"    call {one_line(call.id)}: {one_line(call.name)} {arguments}", NAME
        if call.id in results:
            yield from _result_lines(results[call.id], ledger)
        else:
            yield "      not run", BAD
    for problem in turn.problems:
        yield from _indented(f"told to the model: {problem}", "    ", BAD)


def _result_lines(result: ToolResult, ledger: deque[Evidence]) -> Iterator[Line]:
    cached = ", from the cache" if result.cached else ""
    style = "" if result.status == "ok" else BAD
    count = f", {len(result.passages)} passages" if result.passages else ""
    yield f"      {result.status}{count} in {result.seconds:.3f} s{cached}", style
    if result.message:
        yield from _indented(result.message, "        ", style)
    for passage in result.passages:
        shown = ledger.popleft() if ledger and _same(ledger[0].passage, passage) else None
        number = f"[{shown.number}]" if shown else "(not shown)"
        cut = " (shown in part)" if shown and shown.cut else ""
        yield f"      {number} {_origin(passage)}{cut}", ""
        yield from _indented(passage.text, "          ", FAINT)


def _same(shown: Passage, found: Passage) -> bool:
    place = (found.source, found.document_id, found.revision, found.start)
    return (shown.source, shown.document_id, shown.revision, shown.start) == place


def _origin(passage: Passage) -> str:
    revision = f" at {passage.revision}" if passage.revision else ""
    place = f"{passage.source} {passage.document_id}{revision}, {passage.start}-{passage.end}"
    return one_line(f"{passage.title} ({place})")


def _ledger_lines(evidence: tuple[Evidence, ...]) -> Iterator[Line]:
    yield f"  evidence: {len(evidence)} passages, {sum(e.cited for e in evidence)} cited", NAME
    for item in evidence:
        cited = "cited" if item.cited else "not cited"
        query = one_line(f"{item.tool}({item.query!r})")
        cut = ", shown in part" if item.cut else ""
        yield (
            f"    [{item.number}] {query} -> {_origin(item.passage)}{cut}, {cited}",
            (GOOD if item.cited else ""),
        )


def _indented(text: str, indent: str, style: str = "") -> Iterator[Line]:
    for line in visible(text).splitlines():
        yield indent + line, style
