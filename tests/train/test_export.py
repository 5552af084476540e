"""What leaves a run: the same logits merged as with the adapter, GGUF tensors, an honest card."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

torch = pytest.importorskip("torch", reason="needs [train]")
peft = pytest.importorskip("peft", reason="needs [train]")
gguf = pytest.importorskip("gguf", reason="needs gguf")
pytest.importorskip("yaml", reason="needs [train]")

import tiny  # noqa: E402

from openreward.errors import UserError  # noqa: E402
from openreward.policy.model_file import check_adapter  # noqa: E402
from openreward.train.adapter_gguf import write_adapter  # noqa: E402
from openreward.train.config_files import read_settings, write_settings  # noqa: E402
from openreward.train.export import export, main  # noqa: E402
from openreward.train.settings import GrpoSettings  # noqa: E402

CONFIG = Path(__file__).parents[2] / "train" / "configs" / "tiny.yaml"
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def adapted(folder: Path, targets: list[str] | None = None, **more: Any) -> Any:
    """The tiny model under an adapter that does something."""
    base = tiny.model(tiny.tokenizer())
    base.save_pretrained(folder / "base")
    tiny.tokenizer().save_pretrained(folder / "base")
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=targets or TARGETS, **more)
    model = peft.get_peft_model(base, config)
    generator = torch.Generator().manual_seed(0)
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            weight.data.normal_(0, 0.2, generator=generator)
    return model


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    model = adapted(folder)
    model.save_pretrained(folder / "final")
    tiny.tokenizer().save_pretrained(folder / "final")
    (folder / "pairs.jsonl").write_text("{}\n")
    words = [f"model.path={folder / 'base'}", f"data.files=[{folder / 'pairs.jsonl'}]"]
    settings = read_settings(CONFIG, [*words, "model.lora.rank=4"], GrpoSettings)
    write_settings(settings, folder / "settings.yaml")
    rows = [{"step": 1, "loss": 0.5}, {"step": 2, "heldout/accuracy": 0.75}]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def logits(model: Any) -> Any:
    ids = torch.arange(20, 60).unsqueeze(0)  # (1, 40)
    model.eval()
    with torch.no_grad():
        return model(input_ids=ids).logits


def test_the_merged_model_says_what_base_and_adapter_say(run: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    made = export(run, tmp_path / "merged", merge=True)
    base = AutoModelForCausalLM.from_pretrained(run / "base", dtype=torch.float32)
    plain = logits(base)
    wanted = logits(peft.PeftModel.from_pretrained(base, str(run / "final")))
    merged = AutoModelForCausalLM.from_pretrained(made, dtype=torch.float32)
    assert torch.allclose(logits(merged), wanted, atol=1e-4)
    assert not torch.allclose(plain, wanted, atol=1e-2)
    assert AutoTokenizer.from_pretrained(made).chat_template == tiny.QWEN


def test_the_card_and_manifest_say_what_was_measured_and_no_more(run: Path, tmp_path: Path) -> None:
    made = export(run, tmp_path / "adapter")
    assert (made / "adapter_model.safetensors").exists()
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["program"] == "grpo"
    assert manifest["steps"] == 2
    assert manifest["held_out"] == {"heldout/accuracy": 0.75}
    card = (made / "README.md").read_text()
    assert "| heldout/accuracy | 0.7500 |" in card
    assert str(run / "base") in card
    (data,) = manifest["data"].values()
    assert data in card


def test_without_an_evaluation_the_card_says_so(run: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "metrics.jsonl").unlink()
    made = export(copy, tmp_path / "out")
    assert "Nothing was measured" in (made / "README.md").read_text()


def test_a_gguf_adapter_holds_every_tensor_as_it_is(run: Path, tmp_path: Path) -> None:
    made = export(run, tmp_path / "gguf", gguf=True)
    name = check_adapter(made / "adapter.gguf")
    assert name.startswith("adapter-")
    reader = gguf.GGUFReader(made / "adapter.gguf")
    assert reader.get_field("adapter.lora.alpha").contents() == 8.0
    assert reader.get_field("general.architecture").contents() == "qwen2"
    found = {tensor.name: tensor.data for tensor in reader.tensors}
    assert len(found) == 2 * 2 * len(TARGETS)
    from safetensors.torch import load_file

    own = load_file(run / "final" / "adapter_model.safetensors")
    key = "base_model.model.model.layers.1.self_attn.q_proj.lora_{}.weight"
    for side in "AB":
        wanted = own[key.format(side)].numpy()
        assert (found[f"blk.1.attn_q.weight.lora_{side.lower()}"] == wanted).all()


def test_llama_s_query_rows_are_turned_as_llama_cpp_rotates_them(tmp_path: Path) -> None:
    from openreward.train.adapter_gguf import _turned

    rows = torch.arange(16).reshape(16, 1).numpy()
    turned = _turned(rows, 2)[:, 0].tolist()
    assert turned == [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"use_dora": True}, "DoRA"),
        ({"use_rslora": True}, "rank-stabilised"),
        ({"peft_type": "IA3"}, "expected a LoRA adapter"),
        ({"modules_to_save": ["lm_head"]}, "whole modules"),
        ({"bias": "all"}, "trained biases"),
    ],
)
def test_an_adapter_that_the_file_cannot_hold_is_refused(
    run: Path, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run / "final", copy)
    config = json.loads((copy / "adapter_config.json").read_text())
    (copy / "adapter_config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(UserError, match=said):
        write_adapter(copy, run / "base", tmp_path / "a.gguf")
    assert not (tmp_path / "a.gguf").exists()


def test_another_architecture_is_refused(run: Path, tmp_path: Path) -> None:
    config = json.loads((run / "base" / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": "gpt2"}))
    with pytest.raises(UserError, match="expected a base model of"):
        write_adapter(run / "final", tmp_path / "config.json", tmp_path / "a.gguf")


@pytest.mark.parametrize("bad", ["nothing", "unfinished"])
def test_a_run_without_a_result_is_named(
    tmp_path: Path, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "unfinished").mkdir()
    assert main([str(tmp_path / bad), "-o", str(tmp_path / "out")]) == 2
    assert "expected the output of a finished run" in capsys.readouterr().err


def test_a_folder_with_files_is_not_written_over(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UserError, match="expected a new folder"):
        export(run, tmp_path)
