"""What we lean on in Biopython: that it builds requests, and sends at one place."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

from openreward.tools.entrez_requests import Entrez, EntrezRequest


def test_biopython_builds_what_is_asked() -> None:
    entrez = Entrez(tool="t", email="a@b.org", api_key="k")
    assert entrez.search("hip pain", 20, 10) == EntrezRequest(
        "/esearch.fcgi",
        {
            "db": "pubmed",
            "term": "hip pain",
            "retstart": "20",
            "retmax": "10",
            "sort": "relevance",
            "retmode": "xml",
            "tool": "t",
            "email": "a@b.org",
            "api_key": "k",
        },
    )
    assert entrez.fetch(("7", "8")) == EntrezRequest(
        "/efetch.fcgi",
        {
            "db": "pubmed",
            "id": "7,8",
            "rettype": "abstract",
            "retmode": "xml",
            "tool": "t",
            "email": "a@b.org",
            "api_key": "k",
        },
    )


def test_long_requests_are_the_same_though_biopython_would_post_them() -> None:
    entrez = Entrez(tool="t")
    ids = tuple(str(number) for number in range(10_000_000, 10_000_300))
    assert entrez.fetch(ids).params["id"] == ",".join(ids)
    term = " OR ".join(f"wörd{number}" for number in range(400))
    assert entrez.search(term, 0, 5).params["term"] == term


def test_what_is_not_known_is_not_sent_and_nobody_is_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params = Entrez(tool="t").search("x", 0, 1).params
    assert sorted(params) == ["db", "retmax", "retmode", "retstart", "sort", "term", "tool"]


def test_other_users_of_biopython_in_the_process_keep_theirs() -> None:
    from Bio import Entrez as theirs

    Entrez(tool="t", email="a@b.org", api_key="k").search("x", 0, 1)
    assert (theirs.tool, theirs.email, theirs.api_key) == ("biopython", None, None)
    assert hasattr(theirs._open, "previous")  # Biopython's own, which sends


def test_nothing_is_put_into_the_users_home(tmp_path: Path) -> None:
    code = (
        "import sys; from openreward.tools.entrez_requests import Entrez; "
        "from openreward.tools.live_pubmed import LivePubmed; Entrez(tool='t').search('x', 0, 1); "
        "assert 'Bio.Entrez.Parser' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HOME": str(tmp_path), "APPDATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])
