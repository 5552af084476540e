"""A vLLM server as an engine: adapters under new names each step, and what it says when it cannot.

The server here is a real HTTP server that answers vLLM's routes in the shapes vLLM gives them; the
file `vllm_routes.py` has it. docs/TESTED.md says when a real vLLM was run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import PolicyError, UserError
from openreward.policy.base import Conversation, Sampling
from openreward.train.engines.vllm_server import VllmServerEngine
from openreward.types import Message

sys.path.insert(0, str(Path(__file__).parent))

from vllm_routes import Routes, serving


class Adapter:
    """Saves itself as peft's models do."""

    def __init__(self, number: int) -> None:
        self.number = number

    def save_pretrained(self, folder: str, state_dict: object = None) -> None:
        Path(folder).mkdir(parents=True)
        (Path(folder) / "adapter_config.json").write_text(str(self.number))


@pytest.fixture
def routes() -> Iterator[Routes]:
    with serving() as found:
        yield found


def engine(routes: Routes, folder: Path) -> VllmServerEngine:
    return VllmServerEngine(routes.url, adapters=folder, run="r")


async def said_by(policy: Any) -> str:
    talk = Conversation([Message(role="user", content="q")])
    await policy.generate(talk, Sampling(max_tokens=3, temperature=1.0))
    return "".join(map(chr, talk.token_ids[-3:]))


def test_each_step_asks_for_its_own_adapter_and_the_former_is_gone(
    routes: Routes, tmp_path: Path
) -> None:
    async def steps() -> list[str]:
        tried = engine(routes, tmp_path)
        policy = await tried.open()
        asked = []
        for step in (0, 1, 2):
            await tried.update(Adapter(step), step)
            tried.use(step)
            await said_by(policy)
            asked.append(routes.completions[-1]["model"])
            assert routes.loaded == {f"r-step-{step}": str(tmp_path / f"r-step-{step}")}
            assert [path.name for path in tmp_path.iterdir()] == [f"r-step-{step}"]
        await tried.close()
        return asked

    assert asyncio.run(steps()) == ["r-step-0", "r-step-1", "r-step-2"]
    assert routes.loaded == {}
    assert list(tmp_path.iterdir()) == []


def test_a_rank_that_sends_no_weights_asks_for_the_same_adapter(
    routes: Routes, tmp_path: Path
) -> None:
    async def other_rank() -> str:
        main, other = engine(routes, tmp_path), engine(routes, tmp_path)
        await main.open()
        policy = await other.open()
        await main.update(Adapter(4), 4)
        other.use(4)
        await said_by(policy)
        name = str(routes.completions[-1]["model"])
        await other.close()
        assert routes.loaded
        await main.close()
        return name

    assert asyncio.run(other_rank()) == "r-step-4"


def test_an_adapter_that_a_killed_run_left_is_replaced(routes: Routes, tmp_path: Path) -> None:
    routes.loaded["r-step-0"] = "/old"

    async def begun_again() -> None:
        tried = engine(routes, tmp_path)
        await tried.open()
        await tried.update(Adapter(0), 0)
        assert routes.loaded == {"r-step-0": str(tmp_path / "r-step-0")}
        await tried.close()

    asyncio.run(begun_again())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"runtime": False}, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1"),
        ({"refuses": "No adapter found for /x"}, "must see that folder under the same path"),
    ],
)
def test_a_server_that_loads_none_is_told_what_it_lacks(
    routes: Routes, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    for name, value in change.items():
        setattr(routes, name, value)

    async def loaded() -> None:
        tried = engine(routes, tmp_path)
        await tried.open()
        try:
            await tried.update(Adapter(0), 0)
        finally:
            await tried.close()

    with pytest.raises(UserError, match=said):
        asyncio.run(loaded())


def test_for_full_weights_it_only_asks(routes: Routes) -> None:
    async def asked() -> str:
        tried = VllmServerEngine(routes.url)
        policy = await tried.open()
        await tried.update(object(), 1)
        tried.use(1)
        await said_by(policy)
        await tried.close()
        return str(routes.completions[-1]["model"])

    assert asyncio.run(asked()) == "base"
    assert routes.loaded == {}


def test_no_server_or_another_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="127.0.0.1:9"):
        asyncio.run(VllmServerEngine("http://127.0.0.1:9", adapters=tmp_path).check())
    with serving(version=None) as routes, pytest.raises(UserError, match="expected a vLLM server"):
        asyncio.run(engine(routes, tmp_path).check())
