from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tape_runs import HEADER, PLACE, SPEC, answer, asked, found, recorded

from openreward.errors import RecordError, UserError
from openreward.tools.tape import Mode, Place, Tape, TapeHeader, TapeMiss
from openreward.types import ToolCall, ToolResult


def test_what_was_recorded_is_replayed_whole_under_the_id_of_the_call(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    for mode in ("replay", "replay-strict"):
        with Tape(path, mode, HEADER) as tape:
            assert answer(tape, asked(id="other")) == found(asked(id="other"))


@pytest.mark.parametrize(
    "status", ["no_result", "bad_query", "rate_limited", "unavailable", "timeout"]
)
def test_failures_are_on_tape_too(tmp_path: Path, status: str) -> None:
    failed = ToolResult.model_validate(
        {"call_id": "call-1-1", "status": status, "message": "why", "seconds": 2.0}
    )
    with Tape(tmp_path / "tape", "record", HEADER) as tape:
        assert answer(tape, asked(), failed) == failed
    with Tape(tmp_path / "tape", "replay-strict") as tape:
        assert answer(tape, asked()) == failed


def test_a_line_of_a_tape_is_readable(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape", asked("Łódź"))
    header, entry = map(json.loads, path.read_text().splitlines())
    assert header == {
        "format": "openreward-tape/1",
        "tools": [
            {"name": "find", "description": "Find passages.", "parameters": {"type": "object"}}
        ],
        "config": {"versions": {"wikipedia": "7"}, "passages": 3},
    }
    assert entry["trajectory"] == "row-1/12"
    assert (entry["number"], entry["tool"]) == (1, "find")
    assert entry["arguments"] == '{"query": "\\u0141\\u00f3d\\u017a"}'
    assert (entry["result"]["status"], entry["result"]["seconds"]) == ("ok", 1.5)


@pytest.mark.parametrize(
    ("place", "call", "said"),
    [
        (PLACE, asked("grace"), "call 1: asked find '{'q': 'grace'}', on tape find '{'q': 'ada'}'"),
        (PLACE, asked(name="look"), "asked look '{'q': 'ada'}', on tape find"),
        (Place("row-1/12", 2), asked(), "call 2: asked find '{'q': 'ada'}', on tape no call there"),
        (Place("row-2/12", 1), asked(), "trajectory 'row-2/12', call 1: asked find"),
    ],
    ids=["other query", "other tool", "other number", "other trajectory"],
)
def test_a_miss_in_strict_mode_names_what_was_asked_and_what_is_taped(
    tmp_path: Path, place: Place, call: ToolCall, said: str
) -> None:
    path = recorded(tmp_path / "tape")
    before = path.read_bytes()
    with Tape(path, "replay-strict") as tape, pytest.raises(TapeMiss) as raised:
        answer(tape, call, place=place)
    assert said in str(raised.value).replace('"query"', "'q'").replace('"', "'")
    assert path.read_bytes() == before


def test_a_miss_in_replay_runs_and_is_on_the_tape_from_then_on(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    with Tape(path, "replay", HEADER) as tape:
        assert answer(tape, asked("grace"), found(asked(), 9.0)).seconds == 9.0
        assert answer(tape, asked("grace")).seconds == 9.0
    with Tape(path, "replay-strict") as tape:
        assert answer(tape, asked("grace")).seconds == 9.0  # the later of two wins


def test_a_row_done_again_is_taped_again_and_the_later_wins(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    with Tape(path, "record", HEADER, resume=True) as tape:
        answer(tape, asked(), found(asked(), 7.0))
    assert len(path.read_bytes().splitlines()) == 3
    with Tape(path, "replay-strict") as tape:
        assert answer(tape, asked()).seconds == 7.0


def test_an_existing_tape_is_not_recorded_over(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    with pytest.raises(RecordError, match="exists already"):
        Tape(path, "record", HEADER)


@pytest.mark.parametrize("mode", ["replay", "replay-strict"])
def test_a_tape_that_is_not_there_is_named(tmp_path: Path, mode: Mode) -> None:
    for path in (tmp_path / "none", tmp_path, Path("x" * 5000)):
        with pytest.raises(RecordError, match="expected a tape, got no such file"):
            Tape(path, mode, HEADER)


def test_one_run_writes_at_a_time_and_strict_readers_do_not_mind(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    with Tape(path, "replay", HEADER):
        with pytest.raises(RecordError, match="another run is writing"):
            Tape(path, "record", HEADER, resume=True)
        with Tape(path, "replay-strict") as strict:
            assert answer(strict, asked()).status == "ok"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (TapeHeader(tools=()), "find then, none now"),
        (
            TapeHeader(tools=(SPEC.model_copy(update={"description": "Other."}),)),
            "find was described otherwise",
        ),
        (TapeHeader(tools=(SPEC,), config={"passages": 4}), "{'passages': 4} now"),
    ],
    ids=["tools", "description", "config"],
)
def test_a_tape_of_other_tools_is_not_gone_on_with(
    tmp_path: Path, header: TapeHeader, said: str
) -> None:
    path = recorded(tmp_path / "tape")
    for mode in ("record", "replay"):
        with pytest.raises(RecordError) as raised:
            Tape(path, mode, header, resume=True)
        assert said in str(raised.value)
    with Tape(path, "replay-strict", header) as tape:
        assert tape.header == HEADER


def test_a_torn_last_line_is_cut_and_its_call_made_again(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape", asked(), asked("grace"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    second = Place("row-1/12", 2)
    with Tape(path, "replay-strict") as tape:
        assert answer(tape, asked()).status == "ok"
        with pytest.raises(TapeMiss):
            answer(tape, asked("grace"), place=second)
    with Tape(path, "replay", HEADER) as tape:
        answer(tape, asked("grace"), found(asked("grace")), second)
    assert path.read_bytes() == whole


def test_a_header_torn_by_a_kill_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    path.write_bytes(b'{"format": "openrew')
    with pytest.raises(RecordError, match="expected the header of a tape"):
        Tape(path, "replay-strict")
    with Tape(path, "record", HEADER, resume=True) as tape:
        assert tape.header == HEADER
    with Tape(path, "replay-strict") as tape:
        assert [made.spec for made in tape.tools()] == [SPEC]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"{}\n", b'{"id": "x"}\n', b"\xff\n", b"\x00" * 100, b'{"format": "other/1"}\n'],
)
def test_what_is_no_tape_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tape"
    path.write_bytes(content)
    with pytest.raises(RecordError, match="expected the header of a tape"):
        Tape(path, "replay-strict")


def test_a_broken_line_within_is_named(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    with path.open("ab") as file:
        file.write(b'{"trajectory": 3}\n')
    with pytest.raises(RecordError, match="line 3: .*take the line out"):
        Tape(path, "replay-strict")


def stop_after(tape: Tape) -> None:
    answer(tape, asked(), found(asked()))
    raise TapeMiss("stopped")


def test_of_a_run_that_came_to_nothing_no_tape_stays(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    with pytest.raises(UserError, match="no engine"), Tape(path, "record", HEADER):
        raise UserError("no engine")
    assert not path.exists()
    with pytest.raises(TapeMiss), Tape(path, "record", HEADER) as tape:
        stop_after(tape)
    assert len(path.read_bytes().splitlines()) == 2


def test_a_tool_of_a_strict_tape_runs_nothing(tmp_path: Path) -> None:
    with Tape(recorded(tmp_path / "tape"), "replay-strict") as tape:
        [made] = tape.tools()
    with pytest.raises(UserError, match="answers from its tape only"):
        asyncio.run(made.function(query="ada"))  # type: ignore[arg-type]


def test_a_call_that_is_cancelled_is_not_on_tape(tmp_path: Path) -> None:
    path = tmp_path / "tape"

    async def hang() -> ToolResult:
        await asyncio.sleep(60)
        raise AssertionError

    async def main(tape: Tape) -> None:
        task = asyncio.create_task(tape.answer(PLACE, asked(), hang))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    with Tape(path, "record", HEADER) as tape:
        asyncio.run(main(tape))
    assert len(path.read_bytes().splitlines()) == 1
