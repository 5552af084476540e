import asyncio

import pytest

from openreward.policy.base import Constraint, Sampling
from openreward.policy.engines import VllmEngine
from openreward.policy.transport import Transport


@pytest.mark.parametrize(
    ("version", "field", "value"),
    [
        ("0.10.2", "guided_regex", "[AB]"),
        ("v0.9.0rc1", "guided_regex", "[AB]"),
        ("0.11.0", "structured_outputs", {"regex": "[AB]"}),
        ("0.31.0+cpu", "structured_outputs", {"regex": "[AB]"}),
        ("1.0", "structured_outputs", {"regex": "[AB]"}),
        ("dev", "structured_outputs", {"regex": "[AB]"}),
    ],
)
def test_a_regex_goes_into_the_field_that_the_version_of_vllm_knows(
    version: str, field: str, value: object
) -> None:
    async def run() -> dict[str, object]:
        async with Transport("http://127.0.0.1:1") as transport:
            engine = VllmEngine(transport, "m", version, 100)
            sampling = Sampling(constraint=Constraint(regex="[AB]", grammar=""))
            return engine.body([1], sampling, 5)

    body = asyncio.run(run())
    assert body[field] == value
    assert len({"guided_regex", "structured_outputs"} & set(body)) == 1
