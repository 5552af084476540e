"""What the tools of all sources share: one parameter, a query in plain words."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openreward.errors import UserError
from openreward.tools.base import Found, Search, Tool, tool


def search_tool(name: str, about: str, search: Search, passages: int) -> Tool:
    """A tool over a back end that shows `passages` passages; `about` is what the model reads."""
    if passages < 1:
        raise UserError(f"{name}: expected at least 1 passage a search, got {passages}")

    async def function(
        query: Annotated[str, Field(description="What to look for, in a few plain words.")],
    ) -> Found:
        return await search.search(query, passages)

    function.__name__ = name
    function.__doc__ = about
    return tool(function)
