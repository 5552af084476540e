"""A scalar reward model as a judge: a sequence classifier with one output, through transformers.

Needs the extra `[train]` (torch, transformers). A checkpoint whose output layer is missing would be
filled with random numbers by transformers, and judge like a coin; it is refused instead.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openreward.errors import MissingExtra, UserError, shorten
from openreward.eval.judges import Asked, Kind, Said
from openreward.types import Times, Usage

_MARKS_OF_OUTPUT = ("score", "classifier", "v_head", "regression", "reward")


class ScalarJudge:
    """Gives each answer the model's one logit; higher is better."""

    kind: Kind = "points"

    def __init__(
        self,
        model: str | Path,
        *,
        max_tokens: int = 4096,
        device: str = "cpu",
        dtype: str = "auto",
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError:
            raise MissingExtra(
                "a scalar reward model needs torch and transformers; "
                'install them: pip install "openreward-rm[train]"'
            ) from None
        self.name = str(model)
        self.max_tokens = max_tokens
        self._torch = torch
        self._lock = threading.Lock()  # one forward pass at a time; torch uses all cores
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(model)
            self._model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
                model, dtype=dtype, output_loading_info=True
            )
        except (OSError, ValueError, KeyError) as error:
            raise UserError(
                f"{shorten(str(model))}: expected a reward model that transformers can load, got: "
                f"{shorten(str(error), 200)}"
            ) from None
        _refuse_what_is_no_reward_model(self.name, self._model, info["missing_keys"])
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._model.config.pad_token_id = self._tokenizer.pad_token_id
        self._model.to(device).eval()

    async def reply(self, asked: Asked) -> Said:
        """The scores of all answers; a text beyond `max_tokens` loses its middle, which is said."""
        started = time.monotonic()
        scores, tokens, cut = await asyncio.to_thread(self._score, asked.query, asked.responses)
        seconds = time.monotonic() - started
        return Said(
            status="ok",
            scores=tuple(scores),
            reason=f"{cut} of {len(scores)} answers were cut to {self.max_tokens} tokens"
            if cut
            else "",
            usage=Usage(prompt_tokens=tokens),
            times=Times(total=seconds, policy=seconds),
        )

    def _score(self, query: str, answers: Sequence[str]) -> tuple[list[float], int, int]:
        scores, tokens, cut = [], 0, 0
        with self._lock, self._torch.inference_mode():
            for answer in answers:  # one by one: padding must not change a score
                row = self._encode(query, answer)
                length = len(row["input_ids"])
                tokens += min(length, self.max_tokens)
                cut += length > self.max_tokens
                batch = {
                    name: self._torch.tensor(
                        [_without_middle(ids, self.max_tokens)], device=self._model.device
                    )  # (1, T)
                    for name, ids in row.items()
                }
                logits = self._model(**batch).logits  # (1, 1)
                scores.append(float(logits[0, 0]))
        return scores, tokens, cut

    def _encode(self, query: str, answer: str) -> dict[str, list[int]]:
        """Ids (and segment ids, where the model has them) of a conversation, or of a pair."""
        if self._tokenizer.chat_template:
            messages = [
                {"role": "user", "content": query},
                {"role": "assistant", "content": answer},
            ]
            text = self._tokenizer.apply_chat_template(messages, tokenize=False)
            return dict(self._tokenizer(text, add_special_tokens=False))
        return dict(self._tokenizer(query, answer))


def _without_middle(ids: list[int], most: int) -> list[int]:
    """The first and the last ids: the model reads its score at the end of a text."""
    if len(ids) <= most:
        return ids
    tail = most // 2
    return ids[: most - tail] + ids[-tail:]


def _refuse_what_is_no_reward_model(name: str, model: Any, missing: Sequence[str]) -> None:
    lacking = [key for key in missing if any(mark in key for mark in _MARKS_OF_OUTPUT)]
    if lacking:
        raise UserError(
            f"{shorten(name)}: expected a reward model, got one without {lacking[0]}: its scores "
            "would be random; name a checkpoint trained for sequence classification"
        )
    outputs = model.config.num_labels
    if outputs != 1:
        raise UserError(
            f"{shorten(name)}: expected a reward model with one output, got {outputs} of them"
        )
