"""What a trainer goes through: pairs in the orders they are shown, and what each is measured by.

A row of TRL's dataset is a row's id as its prompt, and its target: TRL hands a rollout function
nothing but prompts, and by the id it finds the pair. Every row of the files that can't be trained
on is named before a model is loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from openreward.errors import UserError, shorten
from openreward.inputs import PairRow
from openreward.judge import derive
from openreward.records import RowError, read_rows
from openreward.train.rewards import RewardSettings, Target, target_of
from openreward.types import Pair, Record

Orders = Literal["both", "drawn"]
Order = tuple[int, int]

_BOTH: tuple[Order, Order] = ((0, 1), (1, 0))


class TrainingRow(Record):
    """A pair as it is shown; the same pair in its other order is another row."""

    id: str
    pair: Pair
    order: Order
    target: Target


class Unusable(NamedTuple):
    """A row of a file that can't be trained on; `message` begins with its place in the file."""

    file: str
    message: str


class TrainingRows(NamedTuple):
    """The rows in the files' order, and what was left out."""

    rows: tuple[TrainingRow, ...]
    unusable: tuple[Unusable, ...]

    def by_id(self) -> Mapping[str, TrainingRow]:
        """The rows by their ids."""
        return {row.id: row for row in self.rows}

    def table(self) -> list[dict[str, str]]:
        """The rows as TRL's dataset has them."""
        return [{"prompt": row.id, "target": row.target.model_dump_json()} for row in self.rows]


def read_training_rows(
    files: Sequence[Path],
    tools: Collection[str],
    reward: RewardSettings,
    *,
    orders: Orders = "both",
    seed: int = 0,
) -> TrainingRows:
    """Labelled pairs of JSONL, JSON or Parquet files, for a model with the tools of these names.

    A pair that stands there twice is taken once. Raises `RecordError` for a file that can't be
    read, `UserError` where no row can be trained on.
    """
    rows: dict[str, TrainingRow] = {}
    unusable: list[Unusable] = []
    for file in files:
        for found in read_rows(file, PairRow):
            if isinstance(found, RowError):
                unusable.append(Unusable(file.name, found.message))
                continue
            try:
                made = _in_orders(found.record, tools, reward, orders, seed)
                _check_new(made, rows)
            except UserError as error:
                unusable.append(Unusable(file.name, f"{found.place} {found.line}: {error}"))
                continue
            rows.update((row.id, row) for row in made)
    if not rows:
        raise UserError(_none_left(files, unusable))
    return TrainingRows(tuple(rows.values()), tuple(unusable))


def check_share(found: TrainingRows, most: float) -> None:
    """Refuse data of which too much can't be used; raises `UserError` that names the first rows."""
    bad, pairs = len(found.unusable), len({row.pair.id for row in found.rows})
    if bad > most * (bad + pairs):
        raise UserError(
            f"expected at most {most:.0%} of the rows unusable, got {bad} of "
            f"{bad + pairs}: {_first(found.unusable)}; mend the file, or allow more "
            "(data.unusable_share)"
        )


def _in_orders(
    pair: Pair, tools: Collection[str], reward: RewardSettings, orders: Orders, seed: int
) -> list[TrainingRow]:
    shown = _BOTH if orders == "both" else (_BOTH[derive(seed, pair.id, "order") % 2],)
    return [
        TrainingRow(
            id=f"{pair.id}|{order[0]}{order[1]}",
            pair=pair,
            order=order,
            target=target_of(pair, order, tools, reward),
        )
        for order in shown
    ]


def _check_new(made: Sequence[TrainingRow], rows: Mapping[str, TrainingRow]) -> None:
    for row in made:
        if row.id in rows:
            same = "the same pair" if rows[row.id].pair == row.pair else "another pair"
            raise UserError(
                f"pair {shorten(row.pair.id)}: expected every id once, got it again for {same}; "
                "give pairs their own ids"
            )


def _none_left(files: Sequence[Path], unusable: Sequence[Unusable]) -> str:
    names = ", ".join(str(file) for file in files) or "no file"
    why = f": {_first(unusable)}" if unusable else "; it has no row"
    return f"{names}: expected labelled pairs to train on, got none that can be used{why}"


def _first(unusable: Sequence[Unusable]) -> str:
    shown = "; ".join(f"{each.file}, {each.message}" for each in unusable[:3])
    more = f"; and {len(unusable) - 3} more" if len(unusable) > 3 else ""
    return shown + more
