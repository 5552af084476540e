"""The tool `wikipedia_search`, over any back end: general knowledge."""

from __future__ import annotations

from openreward.tools.base import Search, Tool
from openreward.tools.search_tool import search_tool

_ABOUT = """
Search Wikipedia for facts about people, places, events, works, science and general knowledge.
Write the name of the subject and what you want to know of it, e.g. "Marie Curie Nobel Prizes".
"""


def wikipedia_search(search: Search, passages: int = 3) -> Tool:
    """The tool as the model calls it; each call shows `passages` passages."""
    return search_tool("wikipedia_search", _ABOUT, search, passages)
