"""One pair from flags, files or standard input; one judgment on the terminal."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import typer
from pydantic import ValidationError

from openreward.cli.measure import measure, searches_line
from openreward.errors import RecordError, UserError
from openreward.inputs import PairRow
from openreward.printable import one_line, visible
from openreward.records import explain
from openreward.types import Judgment

Given = tuple[str | None, str | None]  # the text itself, or the file it is in


class PairFlags(NamedTuple):
    """Query and answers as the flags give them."""

    query: Given
    a: Given
    b: Given

    def any(self) -> bool:
        """Whether any of the flags was used."""
        return any(part != (None, None) for part in self)


def read_pair(flags: PairFlags) -> PairRow:
    """The pair that the flags give; its id is a hash of it."""
    if not flags.any():
        raise UserError("expected INPUT, or --query, --a and --b; got neither; see --help")
    if sum(file == "-" for _, file in flags) > 1:
        raise UserError("standard input (-) can be only one of --query-file, --a-file and --b-file")
    query, a, b = (
        read_text(name, *given) for name, given in zip(("query", "a", "b"), flags, strict=True)
    )
    try:
        return PairRow.model_validate({"query": query, "responses": [a, b]})
    except ValidationError as error:
        raise UserError(explain(error)) from None


def read_text(name: str, text: str | None, file: str | None) -> str:
    """A text that two flags give, as it is or by the file it is in."""
    if (text is None) == (file is None):
        got = "neither" if text is None else "both"
        raise UserError(f"expected --{name} TEXT or --{name}-file FILE, got {got}")
    if file is None:
        return text or ""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(f"{file}: expected UTF-8: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror}; check the path") from None


def show_judgment(judgment: Judgment, as_json: bool) -> None:
    """The verdict, why, and the evidence; or the record itself as JSON."""
    if as_json:
        typer.echo(json.dumps(judgment.model_dump(mode="json")))  # ASCII: nothing in it can act
        return
    lines = [_verdict(judgment)]
    lines += [f"note: {note}" for note in judgment.notes]
    if judgment.explanation:
        lines += ["", judgment.explanation.strip()]
    if judgment.evidence:
        lines += ["", "evidence:"]
    for item in judgment.evidence:
        passage = item.passage
        revision = f" at {passage.revision}" if passage.revision else ""
        cited = ", cited" if item.cited else ""
        origin = f"{passage.title} ({passage.source} {passage.document_id}{revision}{cited})"
        lines.append(one_line(f"  [{item.number}] {item.query!r} -> {origin}"))
    usage = judgment.usage
    searches = searches_line(Counter(measure(judgment).marks))
    lines += [
        "",
        *([searches] if searches else []),
        f"{usage.prompt_tokens} tokens read, {usage.completion_tokens} written, "
        f"{judgment.times.total:.1f} s",
    ]
    typer.echo(visible("\n".join(lines)))


def _verdict(judgment: Judgment) -> str:
    if judgment.winner is not None:
        reason = f" ({judgment.reason})" if judgment.reason else ""
        return f"verdict: answer {'AB'[judgment.winner]} is better{reason}"
    return f"verdict: {judgment.status}: {judgment.reason}"
