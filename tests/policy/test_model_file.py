from pathlib import Path

import pytest

from openreward.errors import UserError
from openreward.policy.model_file import check_gguf


def test_a_file_that_begins_like_a_model_passes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF\x03\x00")
    check_gguf(path)
    path.write_bytes(b"GGU")
    with pytest.raises(UserError):
        check_gguf(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no model file at .*model fetch"), (b"", "got b''"), (b"\x80\x02}", "not a GGUF")],
)
def test_anything_else_names_the_remedy(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=said):
        check_gguf(path)


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the model file"):
        check_gguf(tmp_path)
