"""Any call can be taped, any number of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent))

from tape_runs import HEADER, answer, asked, found, recorded

from openreward.tools.tape import Place, Tape
from openreward.types import ToolCall

Arguments = st.dictionaries(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@given(arguments=Arguments, trajectory=st.text(st.characters()), name=st.text(st.characters()))
def test_any_call_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    arguments: dict[str, JsonValue],
    trajectory: str,
    name: str,
) -> None:
    path = tmp_path_factory.mktemp("tapes") / "tape"
    call = ToolCall.model_construct(id="c", name=name, arguments=arguments)
    with Tape(path, "record", HEADER) as tape:
        answer(tape, call, found(call), Place(trajectory, 1))
    with Tape(path, "replay-strict") as tape:
        assert answer(tape, call, place=Place(trajectory, 1)) == found(call)


@pytest.mark.parametrize("key", ["\ud800", "a\nb", "\x00", "row/1/2", ""])
def test_any_trajectory_can_be_a_place(tmp_path: Path, key: str) -> None:
    with Tape(tmp_path / "tape", "record", HEADER) as tape:
        answer(tape, asked(), found(asked()), Place(key, 1))
    with Tape(tmp_path / "tape", "replay-strict") as tape:
        assert answer(tape, asked(), place=Place(key, 1)).status == "ok"


MEMORY = """
import sys, tracemalloc
from pathlib import Path
from openreward.tools.tape import Tape
tracemalloc.start()
with Tape(Path(sys.argv[1]), "replay-strict") as tape:
    print(tracemalloc.get_traced_memory()[0])
"""


@pytest.mark.slow
def test_memory_grows_by_at_most_30_bytes_an_entry(tmp_path: Path) -> None:
    path = recorded(tmp_path / "tape")
    entry = path.read_text().splitlines()[1]
    with path.open("a") as file:
        for number in range(100_000):
            file.write(entry.replace("row-1/12", f"row-{number}/5") + "\n")
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], env=os.environ, capture_output=True, check=True
    )
    assert int(run.stdout) < 30 * 100_000


FULL = """
import asyncio, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tape_runs import HEADER, answer, asked, found
from openreward.errors import RecordError
from openreward.tools.tape import Place, Tape
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
number = 0
try:
    with Tape(Path(sys.argv[1]), "record", HEADER) as tape:
        while number < 1000:
            answer(tape, asked(), found(asked()), Place(f"row-{number}", 1))
            number += 1
except RecordError as error:
    print(number, error)
"""


def test_a_full_disk_stops_the_run_and_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(Path(__file__).parent)],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    count, _, said = run.stdout.partition(" ")
    assert "its lines are whole; make room, then continue with --resume" in said
    assert len(path.read_bytes().splitlines()) == 1 + int(count) > 1
    with Tape(path, "record", HEADER, resume=True) as tape:
        answer(tape, asked(), found(asked()), Place(f"row-{count}", 1))
    with Tape(path, "replay-strict") as tape:
        assert answer(tape, asked(), place=Place(f"row-{count}", 1)).status == "ok"
