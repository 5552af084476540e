"""A config file and words laid over it: what is read, and what a wrong key is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from openreward.errors import UserError
from openreward.train.settings import GrpoSettings

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("yaml", reason="needs [train]")

from openreward.train.config_files import read_settings, write_settings  # noqa: E402

LEAST = "output: out\ndata: {files: [p.jsonl]}\nmodel: {path: m}\n"


def read(folder: Path, text: str, *words: str) -> GrpoSettings:
    path = folder / "c.yaml"
    path.write_text(text)
    return read_settings(path, words, GrpoSettings)


def test_words_lie_over_the_file(tmp_path: Path) -> None:
    words = ("rollout.limits.calls=2", "reward.em_range=[-1, 1]", "trainer.max_steps=7", "seed=3")
    found = read(tmp_path, LEAST, *words)
    assert found.rollout.limits.calls == 2
    assert found.reward.em_range == (-1, 1)
    assert found.trainer == {"max_steps": 7}
    assert found.seed == 3
    assert found.data.files == (Path("p.jsonl"),)


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    found = read(tmp_path, LEAST, "model.lora.rank=8", "engine.name=transformers")
    write_settings(found, tmp_path / "deep" / "s.yaml")
    assert read_settings(tmp_path / "deep" / "s.yaml", [], GrpoSettings) == found


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (LEAST + "modle: 1\n", [], "did you mean model?"),
        (LEAST, ["learning_rate=1"], "expected keys among"),
        (LEAST, ["zzzz=1"], "take it out"),
        (LEAST, ["model.lora.rnk=1"], "did you mean model.lora.rank?"),
        (LEAST, ["em_range=1"], "did you mean reward.em_range?"),
        (LEAST, ["seed=-1"], "seed"),
        (LEAST, ["model.lora.rank=8", "model.adapter=x"], "got both"),
        (LEAST, ["engine.name=vllm-server"], "engine.url"),
        (LEAST, ["engine.name=llama.cpp"], "engine.gguf"),
        (LEAST, ["seed"], "key=value"),
        (LEAST, ["=1"], "key=value"),
        (LEAST, ["output.more=1"], "expected output to have parts"),
        ("- a\n- b\n", [], "expected keys and values"),
        ("a: [\n", [], "expected YAML"),
        ("", [], "expected keys and values"),
        ("data: {files: []}\noutput: o\nmodel: {path: m}\n", [], "files"),
        ("output: o\nmodel: {path: m}\n", [], "data"),
    ],
)
def test_a_bad_file_or_word_is_told(tmp_path: Path, text: str, words: list[str], said: str) -> None:
    with pytest.raises(UserError) as told:
        read(tmp_path, text, *words)
    assert said in str(told.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(UserError, match="cannot be read"):
            read_settings(path, [], GrpoSettings)
    binary = tmp_path / "b.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="UTF-8"):
        read_settings(binary, [], GrpoSettings)


@pytest.mark.parametrize("config", sorted((Path(__file__).parents[2] / "train/configs").glob("*")))
def test_the_shipped_configs_are_settings(config: Path) -> None:
    if config.suffix == ".yaml" and not config.name.startswith(("sft", "dpo", "accelerate")):
        assert read_settings(config, [], GrpoSettings).output.parts[0] == "runs"
