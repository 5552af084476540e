"""The tool `pubmed_search`, over any back end: biomedical literature."""

from __future__ import annotations

from openreward.tools.base import Search, Tool
from openreward.tools.search_tool import search_tool

_ABOUT = """
Search PubMed abstracts for findings in medicine, biology and public health.
Write condition, treatment and outcome in medical terms, e.g. "aspirin stroke prevention elderly".
"""


def pubmed_search(search: Search, passages: int = 3) -> Tool:
    """The tool as the model calls it; each call shows `passages` passages."""
    return search_tool("pubmed_search", _ABOUT, search, passages)
