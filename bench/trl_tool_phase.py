"""TRL's half of bench_tool_phase.py: one real GRPO step whose rollouts call a tool once a turn.

    python bench/trl_tool_phase.py --rollouts 64 --delay 0.2 --turns 1 --kind async

It runs where TRL is installed and needs nothing of OpenReward. The trainer is TRL's own, over a
tiny Qwen2 made here, with TRL's own Qwen2.5 chat template; `train()` makes one step. Replaced is
only `_generate_single_turn`, by scripted tokens; `_tool_call_loop` is TRL's, with a clock around.
Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

PATCHED = (
    "GRPOTrainer._generate_single_turn gives scripted token ids (no model, no logprobs); "
    "GRPOTrainer._tool_call_loop is called unchanged, timed from outside"
)
ANSWER = "It is ten metres. <answer>A</answer><|im_end|>"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def make_tokenizer() -> Any:
    """One token a byte, and the control tokens of Qwen's template as TRL ships it."""
    import trl
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(alphabet)}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(SPECIAL)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    folder = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (folder / "qwen2_5.jinja").read_text()
    return tokenizer


def make_model(vocabulary: int) -> Any:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
    )
    return Qwen2ForCausalLM(config)


def make_tool(kind: str, delay: float, called: list[str]) -> Any:
    async def search_async(query: str) -> str:
        """Search for a text.

        Args:
            query: What to look for.

        """
        called.append(query)
        await asyncio.sleep(delay)
        return "It is ten metres tall."

    def search_sync(query: str) -> str:
        """Search for a text.

        Args:
            query: What to look for.

        """
        called.append(query)
        time.sleep(delay)
        return "It is ten metres tall."

    return search_async if kind == "async" else search_sync


def make_trainer_class(turns: int, tool: str, spent: dict[str, float]) -> Any:
    from trl import GRPOTrainer

    class Scripted(GRPOTrainer):  # type: ignore[misc]  # without TRL's types
        """The trainer with scripted generation."""

        said = 0

        def _generate_single_turn(self, prompt_ids: Any, *_: Any, **__: Any) -> tuple[Any, None]:
            started = time.perf_counter()
            self.said += 1
            texts = [ANSWER] * len(prompt_ids)
            if self.said <= turns:
                calls = (
                    {"name": tool, "arguments": {"query": f"height {self.said} {place}"}}
                    for place in range(len(prompt_ids))
                )
                texts = [
                    f"<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>" for call in calls
                ]
            ids = [self.processing_class(text)["input_ids"] for text in texts]
            spent["generation"] += time.perf_counter() - started
            return ids, None

        def _tool_call_loop(self, *arguments: Any) -> Any:
            generation = spent["generation"]
            started = time.perf_counter()
            result = super()._tool_call_loop(*arguments)
            spent["loop"] += time.perf_counter() - started
            spent["loop"] -= spent["generation"] - generation  # ours, not TRL's
            return result

    return Scripted


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=64)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--kind", choices=("async", "sync"), default="async")
    parser.add_argument("--prompt", type=Path, help="a JSON file of messages to begin with")
    chosen = parser.parse_args()

    import datasets
    import torch
    import transformers
    import trl

    torch.set_num_threads(1)
    transformers.set_seed(0)
    called: list[str] = []
    spent = {"loop": 0.0, "generation": 0.0}
    tokenizer = make_tokenizer()
    tool = make_tool(chosen.kind, chosen.delay, called)
    prompt = [{"role": "user", "content": "How tall is it?"}]
    if chosen.prompt:
        prompt = json.loads(chosen.prompt.read_text())
    with tempfile.TemporaryDirectory() as folder:
        config = trl.GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=8,
            gradient_accumulation_steps=chosen.rollouts // 8,
            num_generations=8,
            max_completion_length=2048,
            max_steps=1,
            use_cpu=True,
            bf16=False,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        trainer = make_trainer_class(chosen.turns, tool.__name__, spent)(
            model=make_model(len(tokenizer)),
            processing_class=tokenizer,
            args=config,
            train_dataset=datasets.Dataset.from_list([{"prompt": prompt}] * chosen.rollouts),
            reward_funcs=lambda completions, **_: [float(len(str(c)) % 2) for c in completions],
            tools=[tool],
        )
        started = time.perf_counter()
        trainer.train()
        step = time.perf_counter() - started - spent["generation"]
    assert len(called) == chosen.rollouts * chosen.turns, len(called)
    result = {
        "seconds_a_turn": spent["loop"] / chosen.turns,
        "seconds_a_step": step,
        "calls": len(called),
        "patched": PATCHED,
        "versions": {each.__name__: each.__version__ for each in (trl, torch, transformers)},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
