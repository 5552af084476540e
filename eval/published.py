"""Scores that others published for their systems, each with where it stands."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """A system's headline score on a benchmark, in [0, 1]."""

    system: str
    value: float
    source: str


_RMB = "RMB, arXiv 2410.09893, overall"
_RM_R1 = "RM-R1, released scores"
_JUDGEBENCH = "JudgeBench, released decisions, GPT-4o pairs"

PUBLISHED: dict[str, tuple[Published, ...]] = {
    "rmb": (
        Published("GPT-4o-2024-05-13", 0.738, _RMB),
        Published("RM-R1-Qwen2.5-Instruct-32B", 0.7301, _RM_R1),
        Published("Qwen2-72B", 0.723, _RMB),
        Published("Starling-RM-34B", 0.712, _RMB),
        Published("Claude-3.5-Sonnet", 0.706, _RMB),
        Published("Skywork-8B", 0.693, _RMB),
        Published("ArmoRM", 0.646, _RMB),
    ),
    "rm-bench": (
        Published("RewardAnything-8B (with a principle)", 0.864, "RewardAnything, headline"),
        Published("RM-R1-Qwen2.5-Instruct-32B", 0.7924, _RM_R1),
    ),
    "judgebench": (
        Published("InternLM2-20B-Reward", 0.6343, _JUDGEBENCH),
        Published("Skywork-Reward-Llama-3.1-8B", 0.6229, _JUDGEBENCH),
        Published("InternLM2-7B-Reward", 0.5943, _JUDGEBENCH),
    ),
    "auto-j": (Published("Auto-J-13B", 0.5496, "Auto-J, released outputs"),),
    "pandalm": (Published("PandaLM-7B", 0.6677, "PandaLM, released predictions"),),
}
