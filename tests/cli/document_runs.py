"""Runs of `openreward documents fetch` against services of a test that have many documents."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from arxiv_runs import entry, feed
from live_runs import PATHS, openreward, variables
from pubmed_runs import record
from service_server import Answer, Asked, ServiceServer, of_json, of_xml, pubmed_listing

from openreward.records import Row, read_jsonl
from openreward.types import Document

TEXT = "Poles were measured."
Serve = Callable[[Asked], Answer]


def library(count: int, delay: float = 0.0) -> Serve:
    """Documents 1 to `count`, found by any query but "nothing"; all three services at once."""

    def answer(asked: Asked) -> Answer:
        made = of_service(asked, 0 if "nothing" in str(asked.params) else count)
        return Answer(made.body, made.status, made.headers, delay)

    return answer


def of_service(asked: Asked, count: int) -> Answer:
    if asked.path == PATHS["wikipedia"]:
        return _wikipedia(asked.params, count)
    if asked.path == PATHS["arxiv"]:
        start, most = int(asked.params["start"]), int(asked.params["max_results"])
        numbers = range(start + 1, min(start + most, count) + 1)
        return feed([entry(f"2401.{n:05}v1", TEXT) for n in numbers], count, start)
    if asked.path.endswith("esearch.fcgi"):
        start, most = int(asked.params["retstart"]), int(asked.params["retmax"])
        numbers = range(start + 1, min(start + most, count) + 1)
        return pubmed_listing([str(n) for n in numbers], count, start)
    records = "".join(record(pmid, text=TEXT) for pmid in asked.params["id"].split(","))
    return of_xml(f"<PubmedArticleSet>{records}</PubmedArticleSet>")


def _wikipedia(params: dict[str, str], count: int) -> Answer:
    if params.get("list") == "search":
        start, most = int(params.get("sroffset", 0)), int(params["srlimit"])
        numbers = range(start + 1, min(start + most, count) + 1)
        hits = [{"ns": 0, "title": f"Pole {n}", "pageid": n} for n in numbers]
        body = {"query": {"searchinfo": {"totalhits": count}, "search": hits}}
        more = {"continue": {"sroffset": start + most, "continue": "-||"}}
        return of_json({**body, **more} if start + most < count else body)
    pages = [_page(title) for title in params["titles"].split("|")]
    listed = params.get("formatversion") == "2"
    return of_json(
        {"query": {"pages": pages if listed else {str(page["pageid"]): page for page in pages}}}
    )


def _page(title: str) -> dict[str, object]:
    number = int(title.rpartition(" ")[2])
    url = f"https://wiki.example/wiki/{title.replace(' ', '_')}"
    return {
        "pageid": number,
        "ns": 0,
        "title": title,
        "extract": TEXT,
        "fullurl": url,
        "canonicalurl": url,
        "lastrevid": 7,
        "revisions": [{"revid": 7, "parentid": 0}],
    }


def served(folder: Path, serve: Serve) -> ServiceServer:
    """A server to enter; `tools.toml` in the folder names it."""
    server = ServiceServer(serve)
    text = 'contact = "ada@example.org"\n'
    for name, path in PATHS.items():
        text += f'[services.{name}]\nurl = "{server.url}{path}"\ninterval = 0\nat_once = 5\n'
        text += "tries = 1\n"
    (folder / "tools.toml").write_text(text)
    return server


def flags(source: str, *more: str, queries: tuple[str, ...] = ("poles",), n: int = 5) -> list[str]:
    named = [part for query in queries for part in ("--query", query)]
    return ["documents", "fetch", "--source", source, *named, "--n", str(n),
            "-o", "out.jsonl", "--tools", "tools.toml", *more]  # fmt: skip


def fetch(
    folder: Path, source: str, *more: str, queries: tuple[str, ...] = ("poles",), n: int = 5
) -> subprocess.CompletedProcess[str]:
    return openreward(folder, *flags(source, *more, queries=queries, n=n))


def start(
    folder: Path, source: str, *more: str, queries: tuple[str, ...] = ("poles",), n: int = 5
) -> subprocess.Popen[str]:
    """A run that goes on beside the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", *flags(source, *more, queries=queries, n=n)],
        cwd=folder,
        env=variables(folder, {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def documents(folder: Path) -> list[Document]:
    rows = list(read_jsonl(folder / "out.jsonl", Document))
    assert all(isinstance(row, Row) for row in rows)
    return [row.record for row in rows if isinstance(row, Row)]


def ids(folder: Path) -> list[str]:
    return [document.id for document in documents(folder)]
