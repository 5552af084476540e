"""The tool `arxiv_search`, over any back end: preprints in the exact sciences."""

from __future__ import annotations

from openreward.tools.base import Search, Tool
from openreward.tools.search_tool import search_tool

_ABOUT = """
Search abstracts of arXiv papers: computer science, mathematics, physics, statistics.
Write a paper's title, or technical terms of method and problem, e.g. "diffusion models driving".
"""


def arxiv_search(search: Search, passages: int = 3) -> Tool:
    """The tool as the model calls it; each call shows `passages` passages."""
    return search_tool("arxiv_search", _ABOUT, search, passages)
