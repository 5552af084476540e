"""`openreward eval compare`: two judges on the same items, paired.

openreward eval compare runs/with-tools runs/without
openreward eval compare runs/pandalm --judge qwen --judge no-tools -o compare.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from openreward.cli import options as o
from openreward.cli.eval_report import check_new, draw, replace_text
from openreward.cli.eval_run import Data, read_data
from openreward.errors import UserError, shorten
from openreward.eval.benchmark import Benchmark, Example, Number
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.build import read_sheet
from openreward.eval.compare import Compared, Contrast, Differing, Side, Sides
from openreward.eval.report import JudgeReport
from openreward.eval.run import Plan, Sample
from openreward.eval.saved_reports import Saved, choose, predictions_of, read_report
from openreward.eval.sheet import Sheet
from openreward.eval.tables import Table, percent
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.records import Row

SHOWN_IDS = 20
MOST_GROUPS = 30  # of a level, on the terminal


class Chosen(NamedTuple):
    """A judge of a report."""

    saved: Saved
    judge: JudgeReport

    @property
    def plan(self) -> Plan:
        """How the benchmark was put to it."""
        return self.saved.report.plan


def compare_command(
    a: Annotated[Path, typer.Argument(metavar="A", help="A report: its folder or report.json.")],
    b: Annotated[
        Path | None, typer.Argument(metavar="B", help="Another. Default: A, of two judges.")
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Which judge, where a report has several; twice: A's, then B's."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="PATH|HUB_ID", help="The data, where it is not where it was."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare although orders or seed differ.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write everything there, as JSON."),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Compare two judges item by item: difference, interval, which items differ."""
    if output is not None:
        check_new(output)
    sides = choose_sides(a, b, judge or [])
    benchmark = check_alike(*sides, force=force)
    compared = compare(benchmark, *sides, data)
    text = compared.model_dump_json(indent=1) + "\n"
    if output is not None:
        replace_text(output, text)
    if as_json:
        typer.echo(json.dumps(compared.model_dump(mode="json")))
        return
    for line in lines(compared):
        typer.echo(line)
    if output is not None:
        typer.echo(one_line(f"all of it: {output}"))


def choose_sides(a: Path, b: Path | None, names: list[str]) -> tuple[Chosen, Chosen]:
    """The two judges that the arguments name."""
    if len(names) > 2:
        raise UserError(f"expected --judge at most twice, got it {len(names)} times")
    first = read_report(a)
    second = first if b is None else read_report(b)
    alone = [judge.name for judge in first.report.judges] if b is None else []
    if not names and len(alone) == 2:
        one, other = first.report.judges
        return Chosen(first, one), Chosen(second, other)
    if b is None and len(names) < 2:
        raise UserError(
            f"{a}: expected two reports, or --judge twice, to name two judges of this one: "
            f"{', '.join(map(shorten, alone))}"
        )
    of_a, of_b = names if len(names) == 2 else (_named(first, names), _named(second, names))
    made = Chosen(first, choose(first, of_a)), Chosen(second, choose(second, of_b))
    if made[0].saved.path == made[1].saved.path and made[0].judge == made[1].judge:
        raise UserError(f"{a}: expected two judges, got {shorten(made[0].judge.name)} twice")
    return made


def _named(saved: Saved, names: list[str]) -> str | None:
    """The one name given, for a report that has several judges."""
    return names[0] if names and len(saved.report.judges) > 1 else None


def check_alike(a: Chosen, b: Chosen, *, force: bool) -> Benchmark:
    """The benchmark of both; raises `UserError` with what differs of what must not."""
    one, other = a.saved.report, b.saved.report
    must = {
        "benchmark": (one.benchmark, other.benchmark),
        "data (sha256)": (one.data.sha256, other.data.sha256),
    }
    should = {
        "orders": (one.plan.orders, other.plan.orders),
        "seed": (one.plan.seed, other.plan.seed),
    }
    wrong = [_differs(*each) for each in must.items() if each[1][0] != each[1][1]]
    unlike = [_differs(*each) for each in should.items() if each[1][0] != each[1][1]]
    if wrong or (unlike and not force):
        hint = "" if wrong else "; --force compares all the same"
        raise UserError(
            f"expected reports that differ in the judge only: {'; '.join(wrong + unlike)}{hint}"
        )
    if one.benchmark not in BENCHMARKS:
        raise UserError(
            f"{a.saved.path}: expected a benchmark of {', '.join(BENCHMARKS)}, got "
            f"{shorten(one.benchmark)}"
        )
    return BENCHMARKS[one.benchmark]


def _differs(name: str, values: tuple[object, object]) -> str:
    return f"{name}: {shorten(values[0])} in A, {shorten(values[1])} in B"


def compare(benchmark: Benchmark, a: Chosen, b: Chosen, data: str | None) -> Compared:
    """Both sheets over the items of either sample, and what they show."""
    file = a.saved.report.data
    named = data or file.path
    source = Path(named) if Path(named).exists() else named
    read = [read_data(benchmark, source, plan) for plan in dict.fromkeys((a.plan, b.plan))]
    if read[0].file.sha256 != file.sha256:
        raise UserError(
            f"{named}: expected the data of the reports, of sha256 {file.sha256}, got "
            f"{read[0].file.sha256}; --data names where it is"
        )
    both = read[0]._replace(sample=_either(read[0], read[-1]))
    sheets = [_sheet(benchmark, both, each) for each in (a, b)]
    sides = Sides(benchmark, *sheets)
    answered = sides.answered()
    if not answered.both:
        raise UserError("expected items that both judges answered, got none")
    differing = list(sides.differing(_examples(benchmark, both)))
    return Compared(
        benchmark=benchmark.name,
        data=file,
        a=_side(a),
        b=_side(b),
        answered=answered,
        headline=sides.headline(),
        strict=sides.twice(),
        groups=tuple(sides.groups()),
        a_better=tuple(each for each in differing if each.a > each.b),
        b_better=tuple(each for each in differing if each.a < each.b),
    )


def _either(one: Data, other: Data) -> Sample:
    """The examples of either sample: samples of one seed hold each other."""
    if one.sample.ids is None or other.sample.ids is None:
        return Sample(None, max(one.sample.examples, other.sample.examples))
    ids = one.sample.ids | other.sample.ids
    return Sample(ids, len(ids))


def _examples(benchmark: Benchmark, data: Data) -> Iterator[Example]:
    return (row.record for row in data.rows(benchmark) if isinstance(row, Row))


def _sheet(benchmark: Benchmark, data: Data, chosen: Chosen) -> Sheet:
    """The judge's sheet; it must still give the number that its report tells."""
    path = predictions_of(chosen.saved, chosen.judge)
    sheet = read_sheet(benchmark, data.rows(benchmark), path, chosen.plan).sheet
    told, now = chosen.judge.score.headline, benchmark.score(sheet).headline
    if told.n != now.n or abs((told.value or 0.0) - (now.value or 0.0)) > 1e-9:
        raise UserError(
            f"{path}: expected the predictions of {chosen.saved.path}, which says "
            f"{percent(told, interval=False)} over {told.n}; they now come to "
            f"{percent(now, interval=False)} over {now.n}; make the report anew (--resume)"
        )
    return sheet


def _side(chosen: Chosen) -> Side:
    return Side(
        report=clean_text(str(chosen.saved.path)),
        judge=chosen.judge.name,
        plan=chosen.plan,
        predictions=chosen.judge.predictions,
    )


def lines(compared: Compared) -> Iterator[str]:
    """What the terminal shows."""
    a, b, answered = compared.a, compared.b, compared.answered
    yield one_line(f"{BENCHMARKS[compared.benchmark].title}: A {a.judge}, B {b.judge}")
    yield (
        f"{answered.both} items answered by both, {answered.only_a} by A alone, "
        f"{answered.only_b} by B alone, {answered.neither} by neither"
    )
    yield ""
    yield from draw(_table("Difference", [compared.headline, compared.strict], compared.headline))
    for level in dict.fromkeys(each.level for each in compared.groups):
        rows = [each for each in compared.groups if each.level == level]
        if len(rows) <= MOST_GROUPS:
            yield ""
            yield from draw(_table(f"By {level}", rows, rows[0]))
    yield from _ids("A", compared.a_better)
    yield from _ids("B", compared.b_better)


def _table(title: str, rows: list[Contrast], first: Contrast) -> Table:
    head = ("", "n", "A", "B", "A - B [95 %]")
    cells = [
        (
            each.name,
            str(each.difference.n),
            percent(each.a, interval=False),
            percent(each.b, interval=False),
            _signed(each.difference),
        )
        for each in rows
    ]
    return Table(title, head, tuple(cells), first.difference.rule)


def _signed(number: Number) -> str:
    if number.value is None or number.low is None or number.high is None:
        return percent(number)
    bounds = f"[{100 * number.low:+.1f}, {100 * number.high:+.1f}]"
    return f"{100 * number.value:+.2f} {bounds}"


def _ids(name: str, found: tuple[Differing, ...]) -> Iterator[str]:
    yield ""
    yield f"better with {name}: {len(found)} items"
    yield from (
        f"  {one_line(shorten(each.id))}  A {each.a:g}, B {each.b:g}" for each in found[:SHOWN_IDS]
    )
    if len(found) > SHOWN_IDS:
        yield f"  and {len(found) - SHOWN_IDS} more (-o FILE or --json)"
