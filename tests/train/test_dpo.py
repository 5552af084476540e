"""DPO with cross-entropy on the winner: its loss by hand, mixing by shares, bad rows named."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

torch = pytest.importorskip("torch", reason="needs [train]")
trl = pytest.importorskip("trl", reason="needs [train]")
pytest.importorskip("yaml", reason="needs [train]")

import tiny  # noqa: E402

from openreward.errors import UserError  # noqa: E402
from openreward.train import dpo  # noqa: E402
from openreward.train.config_files import read_settings  # noqa: E402
from openreward.train.dpo_preparation import DpoSettings, Preference, mixed, prepare  # noqa: E402

CONFIGS = Path(__file__).parents[2] / "train" / "configs"
ROWS = [
    {"prompt": "Where is it?", "chosen": "It stands in Paris.", "rejected": "In Lyon."},
    {"prompt": "Who built it?", "chosen": "Eiffel's firm did.", "rejected": "The king himself."},
    {"prompt": "When?", "chosen": "In 1889.", "rejected": "Long ago, I think."},
    {"prompt": "How high?", "chosen": "330 metres.", "rejected": "Very."},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dpo")
    tiny.saved(made / "model")
    (made / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return made


def words_of(folder: Path, out: Path) -> list[str]:
    files = f"data.all.files=[{folder / 'rows.jsonl'}]"
    return [f"model.path={folder / 'model'}", files, f"output={out}"]


def run(folder: Path, out: Path, *words: str) -> int:
    config = str(CONFIGS / "dpo-tiny.yaml")
    return dpo.main(["--config", config, *words_of(folder, out), *words])


def logprobs(model: object, tokenizer: object, row: dict[str, str], side: str) -> list[float]:
    """The model's logprob of each token of one answer, its end included, by a plain forward."""
    asked = f"<|im_start|>user\n{row['prompt']}<|im_end|>\n<|im_start|>assistant\n"
    prompt = tokenizer.encode(asked, add_special_tokens=False)  # type: ignore[attr-defined]
    whole = tokenizer.encode(f"{asked}{row[side]}<|im_end|>\n", add_special_tokens=False)  # type: ignore[attr-defined]
    assert whole[: len(prompt)] == prompt
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([whole])).logits[0, :-1].log_softmax(-1)  # type: ignore[operator]
    return [float(logits[n - 1, whole[n]]) for n in range(len(prompt), len(whole))]


def test_the_loss_is_dpo_plus_the_weighted_cross_entropy_of_the_winner(
    folder: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    start = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32)
    moved = tiny.model(tiny.tokenizer(), seed=1)  # another policy than the reference
    moved.save_pretrained(tmp_path / "moved")
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    weight, beta = 0.3, 0.15
    from datasets import Dataset

    table = [Preference(*row.values()).row() for row in ROWS]
    trainer = trl.DPOTrainer(
        model=moved,
        ref_model=start,
        args=trl.DPOConfig(
            output_dir=str(tmp_path / "o"),
            beta=beta,
            loss_type=["sigmoid", "sft"],
            loss_weights=[1.0, weight],
            use_cpu=True,
            bf16=False,
            report_to=[],
            per_device_train_batch_size=4,
            gradient_checkpointing=False,
        ),
        train_dataset=Dataset.from_list(table),
        processing_class=tokenizer,
    )
    batch = next(iter(trainer.get_train_dataloader()))
    trainer.model.eval()
    with torch.no_grad():
        found = float(trainer.compute_loss(trainer.model, batch))
    margins, winners = [], list[float]()
    for row in ROWS:
        own = {side: logprobs(moved, tokenizer, row, side) for side in ("chosen", "rejected")}
        was = {side: logprobs(start, tokenizer, row, side) for side in ("chosen", "rejected")}
        gain = {side: sum(own[side]) - sum(was[side]) for side in own}
        margins.append(beta * (gain["chosen"] - gain["rejected"]))
        winners += own["chosen"]
    by_hand = sum(math.log1p(math.exp(-m)) for m in margins) / len(margins)
    by_hand -= weight * sum(winners) / len(winners)
    assert found == pytest.approx(by_hand, rel=1e-4)


def test_two_steps_run_and_leave_a_model(folder: Path, tmp_path: Path) -> None:
    assert run(folder, tmp_path / "out") == 0
    state = json.loads((tmp_path / "out" / "checkpoint-2" / "trainer_state.json").read_text())
    first = state["log_history"][0]
    assert first["loss"] > math.log(2)  # DPO begins at log 2, the cross-entropy comes on top
    assert (tmp_path / "out" / "final" / "model.safetensors").exists()


def test_long_and_short_data_are_mixed_by_their_shares() -> None:
    parts = {
        "long": [Preference(str(n), "a", "b") for n in range(10)],
        "short": [Preference(str(n), "a", "b") for n in range(100)],
    }
    half = mixed(parts, {"long": 0.5, "short": 0.5}, 0)
    assert {name: len(rows) for name, rows in half.items()} == {"long": 10, "short": 10}
    quarter = mixed(parts, {"long": 0.25, "short": 0.75}, 0)
    assert {name: len(rows) for name, rows in quarter.items()} == {"long": 10, "short": 30}
    assert mixed(parts, {"long": 0.25, "short": 0.75}, 0) == quarter
    assert mixed(parts, {"long": 0.25, "short": 0.75}, 1)["short"] != quarter["short"]
    assert mixed(parts, {"long": 0, "short": 0}, 0) == parts


def test_the_defaults_are_those_of_the_paper() -> None:
    found = read_settings(CONFIGS / "dpo-longreward.yaml", [], DpoSettings)
    assert (found.beta, found.cross_entropy) == (0.15, 0.1)
    assert (DpoSettings.model_fields["beta"].default) == 0.15
    rows = int(str(found.trainer["per_device_train_batch_size"]))
    assert rows * int(str(found.trainer["gradient_accumulation_steps"])) * 2 == 16


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["data.all.share=0.5"], "add up to 1"),
        (["beta=0"], "beta"),
        (["trainer.beta=1"], "is set by beta"),
        (["data.all.files=[/nowhere.jsonl]"], "/nowhere.jsonl"),
        (["max_tokens=64", "unusable_share=1"], ""),
    ],
)
def test_bad_input_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    code = run(folder, tmp_path / "out", "--dry-run", *words)
    told = capsys.readouterr().err
    assert code == (2 if said else 0), told
    assert said in told


def test_rows_without_a_preference_are_named(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    bad: list[dict[str, object]] = [
        {"prompt": "q", "chosen": "a", "rejected": "a"},
        {"prompt": "q", "good": "a"},
        {"prompt": "q", "chosen": "a " * 200, "rejected": "b"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in [ROWS[0], *bad]))
    words = [*words_of(folder, tmp_path / "out"), f"data.all.files=[{file}]", "max_tokens=100"]
    settings = read_settings(CONFIGS / "dpo-tiny.yaml", words, DpoSettings)
    with pytest.raises(UserError, match="got 3 of 4: r.jsonl, line 2: expected a label"):
        prepare(settings)
    found = prepare(settings.model_copy(update={"unusable_share": 0.75}))
    assert len(found.rows) == 1
    assert "line 3" in found.unusable[1]
    assert "at most 100 tokens" in found.unusable[2]
