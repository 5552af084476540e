from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from openreward.cli.checks import (
    Check,
    check_index,
    check_machine,
    check_model,
)
from openreward.cli.doctor import Report, command, report_lines
from openreward.policy.models import ModelRecord
from openreward.tools.index_builder import build
from openreward.types import Document

with_local = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="the extra [local] is not installed"
)
app = typer.Typer()
app.command()(command)


def doctor(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    return result.exit_code, json.loads(result.output)


def add_model(home: Path, name: str = "tiny.gguf") -> None:
    (home / "models").mkdir(exist_ok=True)
    (home / "models" / name).write_bytes(b"GGUF and the rest")


def add_index(home: Path) -> None:
    texts = [("1", "Ada Lovelace", "She wrote a program."), ("2", "Paris", "A city in France.")]
    rows = [Document(id=i, source="wikipedia", title=t, text=x) for i, t, x in texts]
    build(rows, home / "indexes" / "wikipedia", source="wikipedia")


def named(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(check for check in report["checks"] if check["name"] == name)


@contextmanager
def server(*models: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == "/v1/models"
            body = json.dumps({"data": [{"id": name} for name in models]} if known else {}).encode()
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


@with_local
def test_an_empty_home_is_told_to_fetch_the_model_first(openreward_home: Path) -> None:
    code, report = doctor()
    assert (code, report["ready"], report["next"]) == (2, False, "openreward model fetch")
    assert named(report, "model")["status"] == "absent"
    assert named(report, "index")["remedy"] == "openreward index fetch wikipedia-introductions"


@with_local
def test_with_a_model_the_index_is_next(openreward_home: Path) -> None:
    add_model(openreward_home)
    code, report = doctor()
    assert (code, report["next"]) == (2, "openreward index fetch wikipedia-introductions")
    assert named(report, "model")["detail"] == "tiny.gguf, 0 MB, no recorded sum"


@with_local
def test_with_model_and_index_pairs_can_be_judged(openreward_home: Path) -> None:
    add_model(openreward_home)
    add_index(openreward_home)
    code, report = doctor()
    assert (code, report["ready"], report["next"]) == (0, True, None)
    assert named(report, "index")["detail"].startswith(
        "wikipedia: 2 documents, 2 passages, version "
    )
    assert all(check["seconds"] >= 0 for check in report["checks"])


@pytest.mark.parametrize(
    ("content", "status", "detail"),
    [
        (b"GGUF, a model", "ok", "m.gguf, 0 MB, sha256 as recorded (7cb5e07dcf6c)"),
        (b"GGUF, cut", "wrong", "m.gguf, 0 MB: expected sha256 7cb5e07dcf6c"),
    ],
)
def test_a_model_is_held_to_its_recorded_sum(
    openreward_home: Path, content: bytes, status: str, detail: str
) -> None:
    models = openreward_home / "models"
    models.mkdir()
    digest = hashlib.sha256(b"GGUF, a model").hexdigest()
    record = ModelRecord(name="m", source="hub a/b:m.gguf", size=13, sha256=digest)
    (models / "m.json").write_text(record.model_dump_json())
    (models / "m.gguf").write_bytes(content)
    check = check_model(None)
    assert check.status == status
    assert check.detail.startswith(detail)


def test_a_file_that_is_no_model_is_said_to_be_none(openreward_home: Path) -> None:
    add_model(openreward_home)
    (openreward_home / "models" / "tiny.gguf").write_bytes(b"<html>")
    code, report = doctor()
    assert code == 2
    assert "tiny.gguf is not a GGUF model" in named(report, "model")["detail"]


@with_local
def test_of_several_models_one_has_to_be_named(openreward_home: Path) -> None:
    add_model(openreward_home, "a.gguf")
    add_model(openreward_home, "b.gguf")
    assert doctor()[1]["next"] == "openreward doctor --model NAME"
    assert named(doctor("--model", "b")[1], "model")["detail"] == "b.gguf, 0 MB, no recorded sum"


def test_a_broken_index_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "indexes" / "wikipedia").mkdir(parents=True)
    check = check_index("wikipedia", tmp_path / "indexes" / "wikipedia")
    assert (check.status, check.needed) == ("wrong", True)
    assert check.detail.startswith(f"{tmp_path / 'indexes' / 'wikipedia'} holds no index")
    assert check.remedy.startswith("rm -r ")


def test_a_sound_index_that_no_tool_searches_is_not_to_be_removed(tmp_path: Path) -> None:
    check = check_index("notes", tmp_path / "notes")
    assert (check.status, check.needed) == ("wrong", True)
    assert check.detail.startswith("notes: no tool searches this source")
    assert check.remedy.startswith(f"move {tmp_path / 'notes'} elsewhere, or name the others: ")


def test_an_endpoint_stands_in_for_the_model(openreward_home: Path) -> None:
    add_index(openreward_home)
    with server("judge-7b") as url:
        code, report = doctor("--endpoint", url)
    assert code == 0
    assert named(report, "endpoint")["detail"] == "judge-7b, chat path, context unknown"
    assert not [check for check in report["checks"] if check["name"] == "model"]


def test_an_endpoint_that_serves_another_model_is_wrong(openreward_home: Path) -> None:
    add_index(openreward_home)
    with server("judge-7b") as url:
        code, report = doctor("--endpoint", url, "--model", "other")
    assert code == 2
    assert "serves no 'other'; it serves: judge-7b" in named(report, "endpoint")["detail"]


def test_an_endpoint_that_is_not_there_is_wrong(openreward_home: Path) -> None:
    with server() as url:
        pass
    code, report = doctor("--endpoint", url)
    assert (code, named(report, "endpoint")["status"]) == (2, "wrong")
    assert report["next"] == "start the server, or correct --endpoint, --model or the API key"


def test_an_empty_key_variable_is_named(
    openreward_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with server("m") as url:
        _, report = doctor("--endpoint", url, "--api-key-env", "JUDGE_KEY")
    assert "--api-key-env JUDGE_KEY" in named(report, "endpoint")["detail"]


def test_the_machine_is_measured_where_the_home_will_be(tmp_path: Path) -> None:
    check = check_machine(tmp_path / "not" / "yet")
    assert f"GB free for {tmp_path}/not/yet" in check.detail


def test_the_report_is_plain_and_cannot_act_in_the_terminal() -> None:
    checks = (
        Check("core", "ok", "all there", needed=True),
        Check("endpoint", "wrong", "it said \x1b[2J", "start it", needed=True, seconds=1.234),
        Check("[hub]", "absent", "missing: datasets", "pip install it"),
    )
    assert list(report_lines(Report(checks))) == [
        "ok  core      all there (0.00 s)",
        "!!  endpoint  it said \\x1b[2J (1.23 s)",
        "              -> start it",
        "--  [hub]     missing: datasets (0.00 s)",
        "              -> pip install it",
        "next: start it",
    ]
    assert list(report_lines(Report(checks[:1])))[-1] == "ready: pairs can be judged"


def test_it_runs_where_libraries_are_missing_and_leaves_out_what_needs_them(tmp_path: Path) -> None:
    program = (
        "import importlib.metadata, sys\n"
        "sys.modules['httpx'] = sys.modules['tantivy'] = None\n"
        "known = importlib.metadata.version\n"
        "def version(name):\n"
        "    if name == 'httpx': raise importlib.metadata.PackageNotFoundError(name)\n"
        "    return known(name)\n"
        "importlib.metadata.version = version\n"
        "sys.argv = ['openreward', 'doctor', '--json']\n"
        "from openreward.cli.main import main\n"
        "main()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OPENREWARD_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (2, "")
    report = json.loads(run.stdout)
    assert named(report, "core")["detail"] == "missing: httpx"
    assert report["checks"][-1]["name"] == "machine"
    assert " -m pip install " in report["next"]
