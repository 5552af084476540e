from __future__ import annotations

from pathlib import Path

from openreward.cli.result_files import rows_by_id
from openreward.synth.scenario_records import Said, ScenarioRow


def test_rows_come_by_id_and_an_empty_line_is_none(tmp_path: Path) -> None:
    said = (Said(role="user", content="Who?"),)
    made = [ScenarioRow(id=id, conversation=said, english=True) for id in "ba"]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n\r\n".join(row.model_dump_json() for row in made) + "\n\n")
    assert list(rows_by_id(path, ScenarioRow)) == made[::-1]
