"""Sampling from a transformers model, a batch at a time, with the logprob of every sampled token.

Prompts are padded on the left; a row that ends leaves the batch, and the cache with it. Each row
draws from a generator of its own, so that what it samples does not depend on its neighbours (but
for the last digits of the logits), and global random state is not touched. Logprobs are those of
the temperature-scaled distribution before `top_p` cuts it, as trainers recompute them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch


class Prompt(NamedTuple):
    """What to sample behind; temperature 0 is greedy."""

    ids: tuple[int, ...]
    most: int
    temperature: float
    top_p: float
    seed: int
    gone: Callable[[], bool]


@dataclass
class Sampled:
    """The end token is the last id where there is one."""

    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False


def decode(
    model: Any, prompts: Sequence[Prompt], end_ids: Collection[int], pad_id: int
) -> list[Sampled]:
    """What the model, as it stands, says behind each prompt; its mode is restored."""
    import torch

    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return _decode(model, prompts, frozenset(end_ids), pad_id)
    finally:
        model.train(training)


def _decode(
    model: Any, prompts: Sequence[Prompt], end_ids: frozenset[int], pad_id: int
) -> list[Sampled]:
    import torch
    from transformers import DynamicCache

    made = [Sampled() for _ in prompts]
    draws = [torch.Generator().manual_seed(prompt.seed) for prompt in prompts]
    rows = [n for n, prompt in enumerate(prompts) if prompt.most > 0]  # those still under way
    cache = DynamicCache(config=model.config)
    ids, mask = _padded([prompts[n].ids for n in rows], pad_id, model.device)  # (B, P)
    while rows:
        places = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]  # (B, P), then (B, 1)
        logits = model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=places,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits[:, -1]  # (B, V)
        chosen = [prompts[n] for n in rows]
        tokens, logprobs = _sample(logits.float(), chosen, [draws[n] for n in rows])  # (B,), (B,)
        kept = []
        for place, n in enumerate(rows):
            if prompts[n].gone():
                continue
            made[n].ids.append(token := int(tokens[place]))
            made[n].logprobs.append(float(logprobs[place]))
            made[n].ended = token in end_ids
            if not made[n].ended and len(made[n].ids) < prompts[n].most:
                kept.append(place)
        if not kept:
            break
        if len(kept) < len(rows):
            rows = [rows[place] for place in kept]
            select = torch.tensor(kept, dtype=torch.long, device=mask.device)
            cache.batch_select_indices(select)
            tokens, mask = tokens[select], mask[select]
        ids = tokens.unsqueeze(1)  # (B, 1)
        mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
    return made


def _padded(
    ids: Sequence[Sequence[int]], pad_id: int, device: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids padded on the left, and the mask that is 1 on the real ones; both (B, P)."""
    import torch

    longest = max((len(row) for row in ids), default=0)
    padded = [[pad_id] * (longest - len(row)) + list(row) for row in ids]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in ids]
    return torch.tensor(padded, device=device), torch.tensor(mask, device=device)


def _sample(
    logits: torch.Tensor, prompts: Sequence[Prompt], draws: Sequence[torch.Generator]
) -> tuple[torch.Tensor, torch.Tensor]:
    """A token for each row of logits (B, V), and its logprob; both (B,)."""
    import torch

    greedy = [prompt.temperature == 0 for prompt in prompts]
    heat = [prompt.temperature or 1.0 for prompt in prompts]
    logits = logits / logits.new_tensor(heat).unsqueeze(1)
    logprobs = logits.log_softmax(dim=-1)  # (B, V)
    ordered, order = logprobs.sort(dim=-1, descending=True)  # (B, V)
    shares = ordered.exp()
    below = shares.cumsum(dim=-1)
    top_p = logits.new_tensor([p.top_p for p in prompts]).unsqueeze(1)
    shares = shares.masked_fill(below - shares >= top_p, 0.0)  # the first always stays
    sums = shares.cumsum(dim=-1)
    points = [float(torch.rand((), generator=draw)) for draw in draws]
    points = [0.0 if still else point for still, point in zip(greedy, points, strict=True)]
    wanted = sums.new_tensor(points).unsqueeze(1) * sums[:, -1:]  # (B, 1)
    place = torch.searchsorted(sums, wanted, right=True).clamp(max=sums.shape[1] - 1)  # (B, 1)
    tokens = order.gather(1, place).squeeze(1)
    return tokens, logprobs.gather(1, tokens.unsqueeze(1)).squeeze(1)
