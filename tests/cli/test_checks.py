from __future__ import annotations

from pathlib import Path

import pytest

from openreward.cli.checks import check_owner, check_packages, origin, requirements


def test_another_distribution_of_the_same_name_is_a_clash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "openreward-0.1.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: openreward\nVersion: 0.1.3\n")
    (info / "top_level.txt").write_text("openreward\n")
    monkeypatch.syspath_prepend(tmp_path)
    check = check_owner()
    assert (check.status, check.needed) == ("wrong", True)
    assert check.detail.endswith("another distribution installs the same import name: openreward")
    assert " -m pip uninstall -y openreward openreward-rm && " in check.remedy


def test_without_a_clash_version_and_place_are_said() -> None:
    check = check_owner()
    assert check.status == "ok"
    assert check.detail.startswith("0.1.0 at /")


def test_the_packages_are_those_of_the_project() -> None:
    needs = requirements()
    assert {"httpx", "pydantic", "tantivy", "biopython"} <= set(needs[""])
    assert needs["local"] == ("xllamacpp",)


def test_a_missing_package_comes_with_the_line_that_installs_it() -> None:
    check = check_packages("local", ("httpx", "no-such-package"), needed=True)
    assert (check.status, check.detail) == ("absent", "missing: no-such-package")
    assert " -m pip install " in check.remedy
    assert check.remedy.endswith('[local]"')
    optional = check_packages("hub", ("no-such-package",), needed=False)
    assert optional.detail == "missing: no-such-package (optional)"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ('{"url": "file:///src/it", "dir_info": {}}', "file:///src/it"),
        (
            '{"url": "https://a.b/it", "vcs_info": {"vcs": "git", "commit_id": "1f"}}',
            "git+https://a.b/it",
        ),
        (
            '{"url": "https://a.b/it", "vcs_info": {"vcs": "git", "requested_revision": "v1"}}',
            "git+https://a.b/it@v1",
        ),
        (None, None),
        ("{", None),
        ("[]", None),
    ],
)
def test_pip_is_sent_where_it_had_the_installation_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None, address: str | None
) -> None:
    info = tmp_path / "openreward_rm-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: openreward-rm\nVersion: 0.1.0\n")
    if written is not None:
        (info / "direct_url.json").write_text(written)
    monkeypatch.syspath_prepend(tmp_path)
    assert origin() == address
