"""Judged rows of files, with the scores that judges wrote into files of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from openreward.cli.result_files import LeftOut
from openreward.errors import UserError, shorten
from openreward.loose_json import clean_text
from openreward.records import Row, RowError, read_rows
from openreward.resume import Ids
from openreward.synth.consensus_rows import Judged, JudgedRow, check_row
from openreward.synth.scored import Scores, check_used, read_scores


class JoinedRows:
    """Rows with the scores of the judges' own files; what cannot be used is named and counted."""

    def __init__(
        self,
        paths: Sequence[Path],
        judges: Sequence[str],
        principle: str | None,
        left_out: LeftOut,
    ) -> None:
        self._paths, self._principle, self._left_out = paths, principle, left_out
        self._files, self._used = dict[str, Path](), dict[str, int]()
        self._scores = dict[str, dict[str, Scores]]()
        for given in judges:
            name, _, file = given.partition("=")
            if not name or not file or name in self._files:
                raise UserError(
                    f"--judge: expected NAME=FILE with unlike names, got {shorten(given)}"
                )
            found = read_scores(Path(file))
            self._files[name], self._used[name] = Path(file), 0
            self._scores[name] = found.scores
            for error in found.errors:
                left_out.drop(error)

    def rows(self) -> Iterator[Judged]:
        """The rows that can be used."""
        ids = Ids()
        for path in self._paths:
            for row in read_rows(path, JudgedRow):
                judged = row if isinstance(row, RowError) else self._judged(row, ids)
                if isinstance(judged, Judged):
                    yield judged
                    continue
                message = f"{path}: {judged.message}" if len(self._paths) > 1 else judged.message
                self._left_out.drop(judged.model_copy(update={"message": clean_text(message)}))

    def notes(self) -> Iterator[str]:
        """What to say of scores of no row; raises `UserError` where a whole file is such."""
        for name, path in self._files.items():
            said = check_used(path, self._scores[name], self._used[name])
            if said is not None:
                yield clean_text(said)

    def _judged(self, row: Row[JudgedRow], ids: Ids) -> Judged | RowError:
        id = row.record.key()
        try:
            if not ids.is_new(id):
                message = f"{row.place} {row.line}: expected a new id, got {shorten(id)} again"
                return RowError(line=row.line, fault="duplicate_id", message=message)
            return check_row(row.record, self._more(id, row.record), self._principle)
        except ValueError as error:
            message = f"{row.place} {row.line}: {error}"
            return RowError(line=row.line, fault="wrong_fields", message=message)

    def _more(self, id: str, row: JudgedRow) -> dict[str, Scores]:
        more = {name: scores[id] for name, scores in self._scores.items() if id in scores}
        for name in more:
            self._used[name] += 1
            if name in row.judges:
                raise ValueError(f"expected judge {shorten(name)} once, in the row or in its file")
        return more
