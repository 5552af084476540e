"""Requests of NCBI's E-utilities as Biopython builds them, unsent: a path and its parameters.

`Bio.Entrez` sends by a transport of its own, without a timeout, and keeps module globals. So a
private copy of it is loaded, whose `_open`, the one place where it sends, gives the request back.
Its `read` is not used: importing that parser makes folders in the user's home, and it fetches from
the network each document type that it does not know.
"""

from __future__ import annotations

import functools
import importlib.util
from types import ModuleType
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request

from openreward.errors import UserError


class EntrezRequest(NamedTuple):
    """What to ask of the service: `path` is relative to its address."""

    path: str
    params: dict[str, str]


class Entrez:
    """Builds requests in the name of one operator; what is empty is not sent."""

    def __init__(self, *, tool: str, email: str = "", api_key: str = "") -> None:
        self._module = _private_copy()
        self._who = {"tool": tool, "email": email, "api_key": api_key}

    def search(self, term: str, start: int, number: int) -> EntrezRequest:
        """Ids of records for a term, the most relevant first."""
        request = self._module.esearch(
            db="pubmed",
            term=term,
            retstart=start,
            retmax=number,
            sort="relevance",
            retmode="xml",
            **self._who,
        )
        return _unsent(request)

    def fetch(self, ids: tuple[str, ...]) -> EntrezRequest:
        """The records of ids."""
        request = self._module.efetch(
            db="pubmed", id=",".join(ids), rettype="abstract", retmode="xml", **self._who
        )
        return _unsent(request)


@functools.cache
def _private_copy() -> ModuleType:
    spec = importlib.util.find_spec("Bio.Entrez")
    if spec is None or spec.loader is None:
        raise UserError("expected the package biopython, got none; install openreward-rm again")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module._open = lambda request: request  # type: ignore[attr-defined]
    return module


def _unsent(request: Request) -> EntrezRequest:
    """The request's parameters, whether Biopython would have it a GET or, being long, a POST."""
    parts = urlsplit(request.full_url)
    body = request.data.decode() if isinstance(request.data, bytes) else parts.query
    return EntrezRequest("/" + parts.path.rpartition("/")[2], dict(parse_qsl(body)))
