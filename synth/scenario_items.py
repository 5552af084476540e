"""From a row to items: pairs whose scores are near each other, and a best answer with its losers.

Everything is computed from the row and the settings, so a set can be written again from its rows.
Written in RMB's own format and folders: `Pairwise_set/Helpfulness/<class>/<leaf>.json`, `BoN_set`
likewise, each file a JSON list.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from openreward.errors import RecordError
from openreward.judge import derive
from openreward.synth.scenario_labels import Label
from openreward.synth.scenario_records import ScenarioRow, ScenarioSettings, Scored, scored
from openreward.synth.whole_file import WholeFile
from openreward.types import Record

Kind = Literal["Pairwise_set", "BoN_set"]


class ItemMessage(Record):
    """A message as RMB writes it; `language` names English, or that it was not looked into."""

    role: str
    content: str
    language: str


class ItemAnswer(Record):
    """An answer as RMB writes it."""

    llm_name: str
    answer: str


class PairItem(Record):
    """A pair in RMB's format; note `reject`, not `rejected`."""

    pair_uid: str
    conversation_input: tuple[ItemMessage, ...]
    chosen: ItemAnswer
    reject: ItemAnswer
    category_path: str


class BestOfItem(Record):
    """A best-of-N item in RMB's format: the best beats every loser."""

    bon_uid: str
    conversation_input: tuple[ItemMessage, ...]
    bon_best: ItemAnswer
    loser_list: tuple[ItemAnswer, ...]
    category_path: str


class ScoredPair(NamedTuple):
    """Two answers whose scores differ, but by less than the bound."""

    chosen: Scored
    reject: Scored


def pairs_of(row: ScenarioRow, settings: ScenarioSettings) -> list[ScoredPair]:
    """All pairs of a row, the chosen one first in each."""
    found = scored(row)
    return [
        ScoredPair(better, worse)
        for better in found
        for worse in found
        if 0 < better.value - worse.value < settings.apart
    ]


def best_of(row: ScenarioRow, settings: ScenarioSettings) -> list[ScoredPair]:
    """The pairs of the best answer (drawn, of several) if they are enough; the hardest come first.

    Without `fewest_losers` losers within the bound there is no item.
    """
    pairs = pairs_of(row, settings)
    top = max((each.value for each in scored(row)), default=0.0)
    best = sorted({pair.chosen.number for pair in pairs if pair.chosen.value == top})
    if not best:
        return []
    drawn = best[derive(settings.seed, row.id, "best") % len(best)]
    found = [pair for pair in pairs if pair.chosen.number == drawn]
    found.sort(key=lambda pair: -pair.reject.value)  # stable: of equal ones the writers' order
    return found[: settings.most_losers] if len(found) >= settings.fewest_losers else []


def pair_items(row: ScenarioRow, settings: ScenarioSettings) -> list[PairItem]:
    """The pairs of a row as items. A pair's id does not tell which answer won."""
    return [
        PairItem(
            pair_uid=pair_uid(row, pair),
            conversation_input=_conversation(row),
            chosen=_answer(pair.chosen),
            reject=_answer(pair.reject),
            category_path=_category(row, "Pairwise_set"),
        )
        for pair in _kept(row, pairs_of(row, settings))
    ]


def best_of_items(row: ScenarioRow, settings: ScenarioSettings) -> list[BestOfItem]:
    """The best-of-N item of a row, if it has one."""
    pairs = _kept(row, best_of(row, settings))
    if not pairs:
        return []
    return [
        BestOfItem(
            bon_uid=row.id,
            conversation_input=_conversation(row),
            bon_best=_answer(pairs[0].chosen),
            loser_list=tuple(_answer(pair.reject) for pair in pairs),
            category_path=_category(row, "BoN_set"),
        )
    ]


def pair_uid(row: ScenarioRow, pair: ScoredPair) -> str:
    """The id of a pair: the prompt's, and the numbers of the two answers in ascending order."""
    low, high = sorted((pair.chosen.number, pair.reject.number))
    return f"{row.id}/{low}-{high}"


def _kept(row: ScenarioRow, pairs: list[ScoredPair]) -> list[ScoredPair]:
    return pairs if row.drop is None else []


def _category(row: ScenarioRow, kind: Kind) -> str:
    return f"{kind}/Helpfulness/{Label(name=row.label or 'none').path}"


def _conversation(row: ScenarioRow) -> tuple[ItemMessage, ...]:
    language = "English" if row.english else "unknown"
    return tuple(
        ItemMessage(role=said.role, content=said.content, language=language)
        for said in row.conversation
    )


def _answer(scored: Scored) -> ItemAnswer:
    return ItemAnswer(llm_name=scored.answer.llm_name, answer=scored.answer.text)


def write_items(folder: Path, rows: Iterable[ScenarioRow], settings: ScenarioSettings) -> None:
    """Write a set's files anew; none is seen half written."""
    files: dict[str, _ListFile] = {}
    try:
        for row in rows:
            items: list[PairItem | BestOfItem] = [*pair_items(row, settings)]
            for item in [*items, *best_of_items(row, settings)]:
                path = item.category_path
                if path not in files:
                    files[path] = _ListFile(folder / f"{path}.json")
                files[path].add(item)
        for file in files.values():
            file.finish()
    except OSError as error:
        raise RecordError(
            f"{folder}: cannot be written: {error.strerror or error}; the rows are whole; make "
            "room or check the permissions, then the same command with --resume writes it"
        ) from None
    finally:
        for file in files.values():
            file.forget()


class _ListFile:
    """A JSON list under way."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = WholeFile(path)
        self._separator = b"[\n"

    def add(self, item: Record) -> None:
        self._file.write(self._separator + item.model_dump_json().encode())
        self._separator = b",\n"

    def finish(self) -> None:
        self._file.write(b"\n]\n")
        self._file.finish()

    def forget(self) -> None:
        self._file.forget()
