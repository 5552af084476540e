"""Seconds of a GRPO step whose rollouts search: our rollout function, and TRL's own tool loop.

    python bench/bench_rollouts.py [--delay 0.5] [--turns 1]

In an environment with the extra [train]. Both halves are one step of a real trainer on one tiny
model, 8 groups of 8, the same opening prompt; generation is scripted (its time is taken off TRL's
half and left in ours), the tool sleeps. A third run has a tool of 0 s: what the step costs without
waiting. Each half is a process of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULT = HERE / "results" / "rollouts.json"
GROUPS = SIZE = 8
FACT = "It is ten metres tall."


def ours(delay: float, turns: int) -> dict[str, float]:
    """One step of our trainer; the policy searches `turns` times, then gives a verdict."""
    sys.path.insert(0, str(HERE))
    import trl
    from datasets import Dataset

    from openreward.agent import Limits
    from openreward.tools.static import StaticSearch
    from openreward.tools.wikipedia import wikipedia_search
    from openreward.train.engines.scripted import ScriptedEngine
    from openreward.train.reward_trl import OpenReward
    from openreward.train.rewards import RewardSettings
    from openreward.train.rollout import Rollouts, RolloutSettings
    from openreward.train.trainer import RolloutTrainer
    from openreward.types import Passage

    peer: Any = importlib.import_module("trl_tool_phase")
    rows = training_rows()
    tokenizer = peer.make_tokenizer()
    page = Passage(
        document_id="1", source="wikipedia", title="It", text=FACT, start=0, end=len(FACT)
    )
    tool = wikipedia_search(StaticSearch([page], delay=delay), 1)

    def say(text: str, seed: int) -> str:
        asked = text.count("<|im_start|>assistant") - 1
        if asked >= turns:
            return f"It is ten metres. <answer>{'AB'[seed % 2]}</answer>"
        call = {"name": "wikipedia_search", "arguments": {"query": f"height {asked}"}}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"

    limits = Limits(
        calls=turns, turns=turns + 1, total_tokens=30_000, turn_tokens=300, evidence_tokens=100
    )
    rollouts = Rollouts(
        rows.by_id(),
        ScriptedEngine(tokenizer, say, logprob=-1.0),
        [tool],
        RewardSettings(),
        RolloutSettings(limits=limits),
        blank=tokenizer.pad_token_id,
    )
    rollouts.open()
    with tempfile.TemporaryDirectory() as folder:
        trainer = RolloutTrainer(
            rollouts=rollouts,
            model=peer.make_model(len(tokenizer)),
            processing_class=tokenizer,
            args=trl.GRPOConfig(**config_of(folder)),
            train_dataset=Dataset.from_list(rows.table()),
            reward_funcs=[OpenReward()],
        )
        trainer.model.config.max_position_embeddings = 32_768
        started = time.perf_counter()
        trainer.train()
        step = time.perf_counter() - started
    waited = trainer.state.log_history[0]["rollouts/seconds"]
    rollouts.close()
    return {"seconds_a_step": step, "seconds_of_rollouts": waited}


def config_of(folder: str) -> dict[str, Any]:
    """The same of TRL's half."""
    return {
        "output_dir": folder,
        "per_device_train_batch_size": 8,
        "gradient_accumulation_steps": GROUPS * SIZE // 8,
        "num_generations": SIZE,
        "max_completion_length": 2048,
        "max_steps": 1,
        "use_cpu": True,
        "bf16": False,
        "report_to": "none",
        "save_strategy": "no",
        "logging_steps": 1,
        "disable_tqdm": True,
        "vllm_importance_sampling_correction": False,  # TRL's half has no logprobs to correct by
    }


def training_rows() -> Any:
    """Eight rows, one a group."""
    from openreward.train.rewards import RewardSettings
    from openreward.train.rows import read_training_rows

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        rows = [
            {
                "id": f"p{n}",
                "query": "How tall is it?",
                "responses": ["Ten metres.", "Twelve metres."],
                "label": 0,
                "source": "wikipedia",
            }
            for n in range(GROUPS)
        ]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        names = ("wikipedia_search",)
        return read_training_rows([file], names, RewardSettings(), orders="drawn")


def theirs(delay: float, turns: int, folder: Path) -> dict[str, float]:
    """One step of TRL's own trainer and loop, beginning with our opening prompt."""
    from openreward import prompts
    from openreward.types import Task

    task = Task(id="p0", query="How tall is it?", responses=("Ten metres.", "Twelve metres."))
    opening = [
        each.model_dump(include={"role", "content"})
        for each in prompts.opening(task, (), "template")
    ]
    prompt = folder / "prompt.json"
    prompt.write_text(json.dumps(opening))
    words = ["--rollouts", str(GROUPS * SIZE), "--delay", str(delay), "--turns", str(turns)]
    return run([str(HERE / "trl_tool_phase.py"), *words, "--prompt", str(prompt)])


def run(words: Sequence[str]) -> dict[str, float]:
    """The last line that a process of its own prints, as JSON."""
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode:
        raise SystemExit(f"a half failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--half", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.half:
        print(json.dumps(ours(chosen.delay, chosen.turns)))
        return
    half = [str(Path(__file__)), "--half", "--turns", str(chosen.turns), "--delay"]
    with tempfile.TemporaryDirectory() as folder:
        peer = theirs(chosen.delay, chosen.turns, Path(folder))["seconds_a_step"]
    own, still = run([*half, str(chosen.delay)]), run([*half, "0"])
    wait = chosen.delay * chosen.turns
    result = {
        "delay": chosen.delay,
        "turns": chosen.turns,
        "rollouts": GROUPS * SIZE,
        "trl_seconds_a_step": peer,
        "seconds_a_step": own["seconds_a_step"],
        "seconds_a_step_without_waiting": still["seconds_a_step"],
        "times_faster": peer / own["seconds_a_step"],
        "over_the_wait": (own["seconds_a_step"] - still["seconds_a_step"]) / wait,
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
