"""From flags to tools: local indexes, live services, MCP servers, and the tape around them.

Every command that asks a model opens its tools here, and so has the same stack, budget and cache.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from openreward.cli import options as o
from openreward.cli.home import home, index_folders
from openreward.cli.live import LiveChoice, open_service
from openreward.errors import UserError, shorten
from openreward.tools.base import Tool

if TYPE_CHECKING:
    from openreward.tools.base import Search
    from openreward.tools.cache import DiskStore
    from openreward.tools.live_settings import LiveSettings
    from openreward.tools.services import ServiceName
    from openreward.tools.tape import Mode, Tape

ALL = "all"
DAY = 24 * 3600.0


class OpenedTools(NamedTuple):
    """Tools ready to be called, and what their answers depend on."""

    tools: list[Tool]
    depends: dict[str, JsonValue]
    tape: Tape | None = None

    def config(self) -> dict[str, JsonValue]:
        """What a manifest holds of them: versions and addresses, never keys."""
        taped: JsonValue = None
        if self.tape is not None:
            taped = {"mode": self.tape.mode, "header": self.tape.header.digest()}
        return {**self.depends, "tape": taped}


class TapeChoice(NamedTuple):
    """What --tape says."""

    mode: Mode
    path: Path


@dataclasses.dataclass(frozen=True)
class ToolFlags:
    """Which tools the model gets. Checked as it is made; nothing is opened before `open`."""

    index: o.Index = None
    no_tools: o.NoTools = False
    live: o.Live = None
    contact: o.Contact = None
    tools: o.ToolsFile = None
    passages: o.Passages = 3

    def __post_init__(self) -> None:
        given = {"--index": self.index, "--live": self.live, "--tools": self.tools}
        named = [flag for flag, value in given.items() if value]
        if self.no_tools and named:
            raise UserError(f"expected {named[0]} or --no-tools, got both; drop one")
        both = sorted(set(self.sources()) & {source for source, _ in self.indexes()})
        if both:
            raise UserError(
                f"{both[0]}: expected --live or --index for a source, got both; drop one"
            )

    def sources(self) -> list[ServiceName]:
        """The sources that are asked live."""
        if not self.live:
            return []
        from openreward.tools.sources import SERVICES

        wanted = list(dict.fromkeys(self.live))
        unknown = [name for name in wanted if name not in (*SERVICES, ALL)]
        if unknown:
            names = ", ".join([*SERVICES, ALL])
            raise UserError(f"--live: expected one of {names}, got {shorten(unknown[0])}")
        return [name for name in SERVICES if name in wanted or ALL in wanted]

    def indexes(self) -> list[tuple[str, Path]]:
        """The indexes that are named."""
        return [_index(text) for text in self.index or ()]

    @asynccontextmanager
    async def open(
        self, tape: TapeChoice | None = None, *, resume: bool = False, servers: bool = True
    ) -> AsyncIterator[OpenedTools]:
        """The tools, closed with the block. In a strict replay they are the tape's, and no other.

        `resume` goes on with a tape that was begun; without `servers` no MCP server is opened.
        """
        from openreward.tools.tape import Tape, TapeHeader

        if tape is not None and self.no_tools:
            raise UserError(
                "expected --tape or --no-tools, got both; without tools there is no tape"
            )
        async with AsyncExitStack() as stack:
            if tape is not None and tape.mode == "replay-strict":
                taped = stack.enter_context(Tape(tape.path, tape.mode))
                yield OpenedTools(taped.tools(), taped.header.config, taped)
                return
            opened = await self._open(stack, servers)
            if tape is not None:
                specs = tuple(tool.spec for tool in opened.tools)
                header = TapeHeader(tools=specs, config=opened.depends)
                taped = stack.enter_context(Tape(tape.path, tape.mode, header, resume=resume))
                opened = opened._replace(tape=taped)
            yield opened

    async def _open(self, stack: AsyncExitStack, servers: bool) -> OpenedTools:
        if self.no_tools:
            return OpenedTools([], _depends({}, {}, {}, 0))
        from openreward.tools.index_meta import read_meta
        from openreward.tools.mcp_tools import OpenedMcp, open_mcp, refuse_clashes
        from openreward.tools.sources import SOURCES, local_tools

        choice = LiveChoice(self.contact, self.tools)
        settings = choice.settings()
        live = [await open_live(stack, name, choice, settings) for name in self.sources()]
        folders = dict(self.indexes()) if self.index or live else index_folders()
        mcp = OpenedMcp([], {})
        if servers and settings.mcp:
            opening = open_mcp(settings.mcp, os.environ, open_store(settings))
            mcp = await stack.enter_async_context(opening)
        versions = {source: read_meta(path, source).version for source, path in folders.items()}
        tools = local_tools(folders, self.passages)
        tools += [SOURCES[search.source](search, self.passages) for search in live]
        tools += mcp.tools
        if not tools:
            raise UserError(
                f"no index in {home() / 'indexes'}; fetch one with `openreward index fetch "
                "wikipedia-introductions`, build one with `openreward index build`, name one with "
                "--index SOURCE=DIR, search a live service with --live SOURCE, or judge without "
                "looking things up: --no-tools"
            )
        refuse_clashes(tools)
        asked = {search.source: search.version for search in live}
        return OpenedTools(tools, _depends(versions, asked, mcp.versions, self.passages))


async def open_live(
    stack: AsyncExitStack, name: ServiceName, choice: LiveChoice, settings: LiveSettings
) -> Search:
    """A live source behind its cache."""
    from openreward.tools.cache import CachedSearch

    search = await stack.enter_async_context(open_service(name, choice))
    store = open_store(settings)
    if store is None:
        return search
    return CachedSearch(search, store, settings.of(name).language or "en")


def open_store(settings: LiveSettings) -> DiskStore | None:
    """The cache that the settings name; None where it is switched off."""
    from openreward.tools.cache import DiskStore

    if settings.cache is False:
        return None
    folder = settings.cache.folder
    return DiskStore(
        home() / "cache" / "search" if folder is None else folder.expanduser(),
        max_age=settings.cache.max_age * DAY,
    )


def read_tape(text: str | None) -> TapeChoice | None:
    """What --tape says; None where it is not given."""
    from openreward.tools.tape import MODES

    if text is None:
        return None
    mode, _, path = text.partition("=")
    for known in MODES:
        if mode == known and path:
            return TapeChoice(known, Path(path))
    raise UserError(
        f"--tape: expected MODE=FILE, MODE one of {', '.join(MODES)}; got {shorten(text)}"
    )


def _depends(
    indexes: Mapping[str, str], live: Mapping[str, str], mcp: Mapping[str, str], passages: int
) -> dict[str, JsonValue]:
    """What answers depend on; what there is none of is None, as in manifests of before."""
    return {
        "indexes": dict(indexes),
        "live": dict(live) or None,
        "mcp": dict(mcp) or None,
        "passages": passages,
    }


def _index(text: str) -> tuple[str, Path]:
    source, _, folder = text.partition("=")
    if not source or not folder:
        raise UserError(f"--index: expected SOURCE=DIR, got {shorten(text)}")
    return source, Path(folder)
