import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from openreward.errors import MissingExtra, PolicyError, UserError
from openreward.policy.llama_cpp import LlamaCpp

HOLDER = """
import asyncio, sys, time
from pathlib import Path
from openreward.policy.llama_cpp import LlamaCpp

async def main():
    engine = LlamaCpp(Path(sys.argv[1]), slots=1, context=512, threads=1)
    if sys.argv[2] == "loading":
        task = asyncio.create_task(engine.__aenter__())
        while engine.pid is None:
            await asyncio.sleep(0.01)
        print(engine.pid, flush=True)
        await task
    async with engine:
        print(engine.pid, flush=True)
        await asyncio.sleep(120)

asyncio.run(main())
"""


def small(path: Path, **named: Any) -> LlamaCpp:
    return LlamaCpp(path, **{"slots": 2, "context": 2048, "threads": 1, **named})


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether a process ends; one that only waits to be collected has ended."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.model
@pytest.mark.parametrize("moment", ["loading", "serving"])
def test_a_parent_that_is_killed_leaves_no_child(moment: str, small_model: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(small_model), moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        if moment == "loading":
            time.sleep(0.5)
        assert psutil.pid_exists(child)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert gone(child)


@pytest.mark.model
def test_ctrl_c_ends_the_child_by_way_of_the_parent(small_model: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(small_model), "serving"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGINT)
        parent.wait(timeout=20)
    assert gone(child)


@pytest.mark.model
def test_an_error_in_the_block_ends_the_child(small_model: Path) -> None:
    engine = small(small_model, slots=1, context=512)

    async def run() -> None:
        async with engine:
            pids.append(engine.pid)
            raise RuntimeError("mine")

    pids: list[int | None] = []
    with pytest.raises(RuntimeError, match="mine"):
        asyncio.run(run())
    assert pids[0] is not None
    assert gone(pids[0])


@pytest.mark.model
def test_more_context_than_memory_says_what_to_lower(small_model: Path) -> None:
    async def run() -> None:
        with pytest.raises(PolicyError, match="too little memory for .* 8 slots") as caught:
            async with small(small_model, slots=8, context=5_000_000):
                pass
        assert caught.value.fault == "server_error"

    asyncio.run(run())


@pytest.mark.model
def test_a_model_that_is_cut_short_ends_with_the_engines_own_words(
    small_model: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.gguf"
    with small_model.open("rb") as source:
        cut.write_bytes(source.read(3_000_000))

    async def run() -> None:
        with pytest.raises(PolicyError, match="ended with code 1 while loading cut.gguf: gguf_"):
            async with small(cut):
                pass

    asyncio.run(run())


@pytest.mark.model
def test_a_load_that_takes_too_long_is_a_timeout(small_model: Path) -> None:
    async def run() -> None:
        with pytest.raises(PolicyError, match="did not load .* within 0.05 s") as caught:
            async with small(small_model, start_seconds=0.05):
                pass
        assert caught.value.fault == "timeout"

    asyncio.run(run())


def enter(path: Path) -> None:
    async def run() -> None:
        async with LlamaCpp(path):
            pass

    asyncio.run(run())


def test_a_missing_file_names_the_command_that_brings_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="run: openreward model fetch"):
        enter(tmp_path / "none.gguf")


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="`openreward doctor` names the command"):
        enter(path)


def test_settings_that_cannot_work_are_refused_when_made() -> None:
    with pytest.raises(UserError, match="must be at least 1, got 0, 4096, None"):
        LlamaCpp(Path("m.gguf"), slots=0)
