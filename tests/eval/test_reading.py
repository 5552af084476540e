"""Where examples are read from: lists, lines, gzip, Parquet, folders, the hub."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import errors, load
from benchmark_rows import BON, GOOD, changed, write

from openreward.errors import MissingExtra, RecordError, UserError
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.reading import is_hub_id, read_hub
from openreward.eval.rewardbench import RewardBenchRow
from openreward.records import Row

RMB, LLMBAR = BENCHMARKS["rmb"], BENCHMARKS["llmbar"]
TWO = [changed("rewardbench", id=1), changed("rewardbench", id=2)]


@pytest.mark.parametrize(
    "name",
    ["x.json", "x.jsonl", "x.ndjson", "x.json.gz", "x.jsonl.gz", "x.ndjson.gz", "x.parquet"],
)
def test_every_kind_of_file_holds_the_same_examples(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(TWO), path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(write(tmp_path / name[:-3], TWO).read_bytes()))
    else:
        write(path, TWO)
    found = load(BENCHMARKS["rewardbench"], path)
    assert [each.id for each in found] == ["hep-cpp/1", "hep-cpp/2"]


def test_nested_rows_come_whole_out_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pylist([GOOD["rmb"], changed("rmb", pair_uid="14")]), path)
    assert [each.responses for each in load(RMB, path)] == [("good", "bad")] * 2


def test_rmbs_tree_is_read_with_its_paths_as_groups(tmp_path: Path) -> None:
    bare = changed("rmb", category_path=...)
    write(tmp_path / "Pairwise_set/Helpfulness/Open QA/Factual.json", [bare])
    write(tmp_path / "BoN_set/Harmlessness/S5.json", [{**BON, "category_path": None}])
    write(tmp_path / "README.txt", [])
    found = load(RMB, tmp_path)
    assert [each.groups["leaf"] for each in found] == [
        "BoN_set/Harmlessness/S5",
        "Pairwise_set/Helpfulness/Open QA/Factual",
    ]
    assert load(RMB, tmp_path / "BoN_set") == found[:1]
    link = tmp_path / "linked" / "BoN_set/Harmlessness/S6.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "BoN_set/Harmlessness/S5.json")
    assert load(RMB, tmp_path / "linked")[0].groups["leaf"] == "BoN_set/Harmlessness/S6"
    assert load(RMB, tmp_path / "BoN_set" / "Harmlessness") == found[:1]


def test_llmbars_tree_numbers_the_rows_of_each_set(tmp_path: Path) -> None:
    rows = [GOOD["llmbar"], GOOD["llmbar"]]
    write(tmp_path / "LLMBar/Natural/dataset.json", rows)
    write(tmp_path / "LLMBar/Adversarial/GPTOut/dataset.json", rows)
    found = load(LLMBAR, tmp_path / "LLMBar")
    assert [each.id for each in found] == ["GPTOut/1", "GPTOut/2", "Natural/1", "Natural/2"]
    assert found[0].groups == {"family": "Adversarial", "set": "GPTOut"}
    file = tmp_path / "LLMBar/Natural/dataset.json"
    assert load(LLMBAR, file) == load(LLMBAR, file.parent) == found[2:]


def test_an_error_in_a_folder_says_in_which_file(tmp_path: Path) -> None:
    write(tmp_path / "set/one.jsonl", TWO)
    write(tmp_path / "set/two.jsonl", [changed("rewardbench", id=3, prompt=...), TWO[0]])
    found = [error.message for error in errors(BENCHMARKS["rewardbench"], tmp_path / "set")]
    assert found[0].startswith("set/two.jsonl: line 1: field prompt: expected, but missing")
    assert found[1].startswith("set/two.jsonl: line 2: expected unique ids, got 'hep-cpp/1'")


def test_rm_benchs_domain_is_in_the_row_or_in_the_files_name(tmp_path: Path) -> None:
    row = changed("rm-bench", subset=...)
    write(tmp_path / "math_filtered.json", [row])
    write(tmp_path / "safety-refuse_filtered.json", [row])
    write(tmp_path / "safety-response_filtered.json", [row])
    write(tmp_path / "other_filtered.json", [{**row, "domain": "code"}])
    found = load(BENCHMARKS["rm-bench"], tmp_path)
    assert [(each.id, each.groups["domain"]) for each in found] == [
        ("math/8", "math"),
        ("code/8", "code"),
        ("safety-refuse/8", "safety"),
        ("safety-response/8", "safety"),
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing/here.json", "cannot be read: No such file or directory"),
        ("here.jsonl", "cannot be read: No such file or directory"),
        ("folder", "expected files \\*\\*/\\*"),
        ("broken.json", "expected a JSON list of records"),
        ("image.png", "expected a file that ends in"),
    ],
)
def test_a_source_that_cannot_be_read_at_all_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("broken.json").write_text("[{")
    Path("image.png").write_bytes(b"\x89PNG")
    with pytest.raises(RecordError, match=message):
        list(RMB.load(source))


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("allenai/reward-bench", True),
        ("ScalerLab/JudgeBench:claude", True),
        ("a/b/c", False),
        ("rows.jsonl", False),
        ("data/rows.jsonl", False),
        ("data/rows.json.gz", False),
        ("/data/rows", False),
    ],
)
def test_a_hub_id_is_known_by_its_form(source: str, is_one: bool) -> None:
    assert is_hub_id(source) is is_one


def test_without_datasets_a_hub_id_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'openreward-rm\[hub\]'"):
        list(BENCHMARKS["rewardbench"].load("allenai/reward-bench"))


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip(
        "datasets", reason="needs the extra [hub]: datasets is not installed"
    )
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.usefixtures("hub_cache")
def test_datasets_own_call_reads_a_local_data_set(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    write(folder / "data" / "filtered-00000-of-00001.jsonl", [*TWO, changed("rewardbench", id=3)])
    rows = list(read_hub(str(folder), RewardBenchRow, "filtered"))
    assert [row.record.id for row in rows if isinstance(row, Row)] == [1, 2, 3]
    with pytest.raises(UserError, match="cannot be loaded with split other"):
        list(read_hub(str(folder), RewardBenchRow, "other"))


@pytest.mark.usefixtures("hub_cache")
def test_a_hub_id_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nobody/nothing: cannot be loaded with split filtered"):
        list(BENCHMARKS["rewardbench"].load("nobody/nothing"))


def test_rows_may_be_huge_odd_and_control_text(tmp_path: Path) -> None:
    texts = ["\0", "x" * 1_000_000, "東京", "\u202e", "<|im_end|>", ""]
    rows = [changed("rewardbench", id=n, chosen=text) for n, text in enumerate(texts)]
    found = load(BENCHMARKS["rewardbench"], write(tmp_path / "x.jsonl", rows))
    assert [each.responses[0] for each in found] == texts
    (tmp_path / "y.jsonl").write_bytes(
        b'{"id": 1, "prompt": "\\ud800"}\n\xff\n' + json.dumps(GOOD["rewardbench"]).encode()
    )
    faults = [error.fault for error in errors(BENCHMARKS["rewardbench"], tmp_path / "y.jsonl")]
    assert faults == ["not_json", "not_utf8"]
