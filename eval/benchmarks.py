"""The benchmarks by the names that the command line and files of predictions call them."""

from __future__ import annotations

from collections.abc import Mapping

from openreward.eval.auto_j import AutoJ
from openreward.eval.benchmark import Benchmark
from openreward.eval.judgebench import JudgeBench
from openreward.eval.llmbar import LLMBar
from openreward.eval.pairs import Pairs
from openreward.eval.pandalm import PandaLM
from openreward.eval.rankings import Rankings
from openreward.eval.rewardbench import RewardBench
from openreward.eval.rewardbench2 import RewardBench2
from openreward.eval.rm_bench import RMBench
from openreward.eval.rmb import RMB

_ALL: tuple[Benchmark, ...] = (
    RewardBench(),
    RewardBench2(),
    PandaLM(),
    RMB(),
    RMBench(),
    JudgeBench(),
    LLMBar(),
    AutoJ(),
    Pairs(),
    Rankings(),
)
BENCHMARKS: Mapping[str, Benchmark] = {benchmark.name: benchmark for benchmark in _ALL}
