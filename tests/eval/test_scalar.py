"""The scalar judge, on tiny models made here; skipped where transformers is not installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import UserError
from openreward.eval.judges import Asked
from openreward.eval.scalar import ScalarJudge, _without_middle

torch = pytest.importorskip("torch", reason="needs the extra [train]: torch is not installed")
transformers = pytest.importorskip(
    "transformers", reason="needs the extra [train]: transformers is not installed"
)
Make = Callable[..., Path]


def asked(*answers: str) -> Asked:
    return Asked("1", "q", answers, tuple(range(len(answers))), seed=0)


@pytest.fixture
def make_model(tmp_path: Path) -> Make:
    """A tiny model with five words, as a checkpoint on disk."""

    def make(kind: str = "BertForSequenceClassification", **changed: Any) -> Path:
        vocabulary = tmp_path / "vocab.txt"
        vocabulary.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nq\n")
        sizes = {"vocab_size": 8, "hidden_size": 8, "intermediate_size": 8, "num_labels": 1}
        heads = {"num_hidden_layers": 1, "num_attention_heads": 2}
        config = transformers.BertConfig(**{**sizes, **heads, **changed})
        torch.manual_seed(0)
        folder = tmp_path / kind
        getattr(transformers, kind)(config).save_pretrained(folder)
        transformers.BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
        return folder

    return make


def test_each_answer_gets_the_logit_that_the_model_gives_it_alone(make_model: Make) -> None:
    folder = make_model()
    said = asyncio.run(ScalarJudge(folder).reply(asked("good", "bad")))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    expected = []
    for word in (5, 6):
        with torch.inference_mode():
            ids = torch.tensor([[2, 7, 3, word, 3]])
            segments = torch.tensor([[0, 0, 0, 1, 1]])
            expected.append(float(model(ids, token_type_ids=segments).logits[0, 0]))
    assert said.status == "ok"
    assert said.scores == pytest.approx(expected, abs=1e-6)
    assert said.usage.prompt_tokens == 10


def test_a_score_does_not_depend_on_the_answers_beside_it(make_model: Make) -> None:
    judge = ScalarJudge(make_model())
    alone = asyncio.run(judge.reply(asked("good", "good"))).scores
    beside = asyncio.run(judge.reply(asked("good", "bad bad bad bad"))).scores
    assert alone is not None
    assert beside is not None
    assert alone[0] == alone[1] == beside[0]


def test_a_model_without_its_output_layer_is_refused(make_model: Make) -> None:
    with pytest.raises(UserError, match=r"without classifier\.\w+: its scores would be random"):
        ScalarJudge(make_model("BertModel"))


def test_a_classifier_of_several_classes_is_refused(make_model: Make) -> None:
    with pytest.raises(UserError, match="one output, got 3 of them"):
        ScalarJudge(make_model(num_labels=3))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a reward model that transformers can load"):
        ScalarJudge(tmp_path)


def test_a_long_text_loses_its_middle() -> None:
    assert _without_middle([1, 2, 3, 4, 5, 6, 7], 4) == [1, 2, 6, 7]
    assert _without_middle([1, 2, 3], 4) == [1, 2, 3]
