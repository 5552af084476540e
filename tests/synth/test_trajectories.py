from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from openreward.batch import NotDone
from openreward.counting import tool_of
from openreward.errors import PolicyError, ToolError
from openreward.judge import JudgeSettings
from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.synth.oracle import call_text
from openreward.synth.trajectories import TeachingSettings
from openreward.tools.sources import SOURCES
from openreward.tools.static import StaticSearch
from openreward.types import Pair, PolicyFault, ToolCall

sys.path.insert(0, str(Path(__file__).parent))

from trajectory_runs import OIL, PAIR, ROOMY, teach

SEARCH = call_text("wikipedia_search", {"query": "lamp oil"})
ELSEWHERE = call_text("arxiv_search", {"query": "lamp oil"})
SAYS_A, SAYS_B = "See [1].\n<answer>A</answer>", "See [1].\n<answer>B</answer>"
TWO = ("wikipedia", "arxiv")
GONE = ToolError("unavailable", "the service is down")


def rewarded(pair: Pair) -> str:
    """The verdict that is right for a pair as it is shown."""
    return SAYS_A if teach(pair).kept[0].label == "A" else SAYS_B


@pytest.mark.parametrize("source", SOURCES)
def test_the_right_tool_has_the_name_that_the_tools_have(source: str) -> None:
    assert SOURCES[source](StaticSearch(), 3).spec.name == tool_of(source)


def test_an_oracle_s_trajectory_is_a_chat_with_its_letter_marked() -> None:
    row = teach()
    (made,) = row.kept
    assert (row.id, row.source, row.dropped) == ("p1", "wikipedia", ())
    assert [message.role for message in made.messages] == [
        *("system", "user", "assistant", "tool", "assistant")
    ]
    assert made.messages[2].content in {
        call_text("wikipedia_search", {"query": query})
        for query in (
            "Brass Lantern Society",
            "Brass Lantern Society keeps lamps lit",
            "Brass Lantern Society keeps lamps",
            "Brass Lantern Society keeps its lamps lit",
        )
    }
    assert "The society burns whale oil." in made.messages[3].content
    (span,) = made.unlearned
    assert made.messages[4].content[span.start : span.end] == made.label
    assert made.label == ("A" if made.order == (0, 1) else "B")
    assert (span.message, made.teacher, made.own_document) == (4, "oracle", True)
    assert made.id == f"p1/{'01' if made.order == (0, 1) else '10'}/0"
    assert [each["function"]["name"] for each in json.loads(made.tools)] == ["wikipedia_search"]


def test_both_orders_and_samples_are_made_and_equal_ones_are_one() -> None:
    settings = TeachingSettings(samples=3, judge=JudgeSettings(orders="both"))
    row = teach(settings=settings)
    assert {each.label for each in row.kept} == {"A", "B"}
    assert {each.order for each in row.kept} == {(0, 1), (1, 0)}
    assert len(row.kept) + len(row.dropped) == 6
    assert {each.id for each in row.kept} <= {f"p1/{o}/{n}" for o in ("01", "10") for n in range(3)}

    same = PAIR.model_copy(update={"query": "lamps"})
    made = [teach(same, settings=settings) for _ in range(2)]
    assert made[0] == made[1]


def test_orders_are_drawn_evenly() -> None:
    made = [teach(PAIR.model_copy(update={"id": f"p{n}"})).kept[0].label for n in range(100)]
    assert 35 < made.count("A") < 65


def native(policy_script: list[Generation]) -> ScriptedPolicy:
    """A hosted engine with native calls."""

    def script(talk: Conversation, sampling: Sampling) -> Generation:
        return policy_script[sum(message.role == "assistant" for message in talk.messages)]

    return ScriptedPolicy(script, tool_style="template")


def test_native_calls_are_written_as_a_model_writes_them() -> None:
    call = ToolCall(id="x1", name="wikipedia_search", arguments={"query": "lamp oil"})
    engine = native([Generation("I look.", tool_calls=(call,)), Generation(rewarded(PAIR))])
    (made,) = teach(engine=engine).kept
    assert made.messages[2].content == f"I look.\n{SEARCH}"
    assert [message.role for message in made.messages][3:] == ["tool", "assistant"]
    assert (made.unlearned, made.teacher) == ((), "scripted")


@pytest.mark.parametrize(
    ("turns", "search", "reason"),
    [
        ([SEARCH, "right"], StaticSearch([OIL]), None),
        ([SEARCH, "wrong"], StaticSearch([OIL]), "wrong_verdict"),
        ([SEARCH, "<answer>tie</answer>"], StaticSearch([OIL]), "tie"),
        ([SEARCH, "It is clear."], StaticSearch([OIL]), "no_verdict"),
        (["right"], StaticSearch([OIL]), "no_counted_call"),
        ([ELSEWHERE, "right"], StaticSearch([OIL]), "wrong_tool"),
        ([f"{ELSEWHERE}\n{SEARCH}", "right"], StaticSearch([OIL]), None),
        ([SEARCH, "right"], StaticSearch(), "nothing_found"),
        ([SEARCH, "right"], StaticSearch(error=GONE), "service_failed"),
        ([SEARCH, "wrong"], StaticSearch(error=GONE), "service_failed"),
        ([SEARCH, "<|im_end|><|im_start|>user right"], StaticSearch([OIL]), "control_text"),
        ([f"<|im_start|>{SEARCH}", "right"], StaticSearch([OIL]), "control_text"),
        ([f"<think>Hm.</think>{SEARCH}", "right"], StaticSearch([OIL]), None),
        (['{"name": "wikipedia_search", "parameters": {"query": "oil"}}', "right"],
         StaticSearch([OIL]), None),
    ],
)  # fmt: skip
def test_each_trajectory_is_kept_or_has_its_reason(
    turns: list[str], search: StaticSearch, reason: str | None
) -> None:
    said, other = rewarded(PAIR), {SAYS_A: SAYS_B, SAYS_B: SAYS_A}
    texts = [t.replace("right", said).replace("wrong", other[said]) for t in turns]
    settings = TeachingSettings(
        teacher="engine", judge=ROOMY.model_copy(update={"tie": "tie" in texts[-1]})
    )
    row = teach(engine=texts, search=search, settings=settings, sources=TWO)
    assert [each.reason for each in row.dropped] == ([reason] if reason else [])
    assert len(row.kept) == (reason is None)


@pytest.mark.parametrize(
    ("changed", "reason", "detail"),
    [
        ({"label": None}, "unlabelled", "label None"),
        ({"label": "tie"}, "unlabelled", "label tie"),
        ({"responses": ("a", "a")}, "same_answers", ""),
        ({"source": None}, "no_tool", "the pair names no source, and there is no --source"),
        ({"source": "encyclopaedia"}, "no_tool", "no encyclopaedia_search is open"),
    ],
)
def test_a_pair_that_cannot_be_used_has_its_reason(
    changed: dict[str, object], reason: str, detail: str
) -> None:
    (dropped,) = teach(PAIR.model_copy(update=changed)).dropped
    assert (dropped.reason, dropped.detail, dropped.order) == (reason, detail, None)


def test_a_source_stands_in_where_a_pair_names_none() -> None:
    settings = TeachingSettings(source="wikipedia", judge=ROOMY)
    row = teach(PAIR.model_copy(update={"source": None}), settings=settings)
    assert [each.source for each in row.kept] == ["wikipedia"]


@pytest.mark.parametrize(
    ("meta", "found", "own"),
    [
        ({"document": "doc-1"}, [OIL], True),
        ({"document": "doc-9"}, [OIL], False),
        ({"document": "doc-9"}, [], False),
        ({}, [OIL], None),
        ({"document": 7}, [OIL], None),
    ],
)
def test_it_is_told_whether_the_pair_s_own_document_was_found(
    meta: dict[str, object], found: list[object], own: bool | None
) -> None:
    row = teach(PAIR.model_copy(update={"meta": meta}), search=StaticSearch(found))  # type: ignore[arg-type]
    assert [each.own_document for each in (*row.kept, *row.dropped)] == [own]


def failing(fault: PolicyFault) -> ScriptedPolicy:
    def script(talk: Conversation, sampling: Sampling) -> str:
        raise PolicyError(fault, "the engine is broken")

    return ScriptedPolicy(script)


def test_an_engine_s_fault_of_this_pair_drops_it() -> None:
    (dropped,) = teach(engine=failing("bad_request")).dropped
    assert (dropped.reason, dropped.detail) == ("engine_error", "the engine is broken")


@pytest.mark.parametrize("fault", ["timeout", "server_error", "rate_limited", "bad_response"])
def test_an_engine_s_fault_of_the_moment_is_done_again(fault: PolicyFault) -> None:
    with pytest.raises(NotDone, match="the engine is broken"):
        teach(engine=failing(fault))


@pytest.mark.parametrize("fault", ["unreachable", "unauthorized", "unknown_model"])
def test_an_engine_s_fault_of_every_pair_stops_the_run(fault: PolicyFault) -> None:
    with pytest.raises(PolicyError, match="the engine is broken; then go on with --resume"):
        teach(engine=failing(fault))


def test_a_trajectory_out_of_tokens_says_so() -> None:
    narrow = ROOMY.limits.model_copy(update={"total_tokens": 256})
    settings = TeachingSettings(judge=ROOMY.model_copy(update={"limits": narrow}))
    (dropped,) = teach(settings=settings).dropped
    assert dropped.reason == "limit"
    assert dropped.detail.endswith(" of 256 tokens")


def test_for_templates_without_tools_schemas_and_results_are_users_turns() -> None:
    (made,) = teach(settings=TeachingSettings(tool_style="prompt", judge=ROOMY)).kept
    assert [message.role for message in made.messages] == [
        *("system", "user", "assistant", "user", "assistant")
    ]
    assert made.messages[1].content.startswith("You have these tools:\n")
    assert (made.tools, made.own_document) == ("[]", True)
    assert "[1]" in made.messages[4].content
