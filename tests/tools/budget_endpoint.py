"""A budget endpoint in a thread, for tests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openreward.tools.budget_files import LineFiles
from openreward.tools.budget_server import listening, make_app, serving


@contextmanager
def endpoint(folder: Path, token: str | None = None, port: int = 0) -> Iterator[str]:
    """Its address; it ends with the block."""
    with listening("127.0.0.1", port) as bound:
        app = make_app(LineFiles(folder, time.monotonic), token)
        loop = asyncio.new_event_loop()
        stop = asyncio.Event()

        async def serve() -> None:
            async with serving(app, bound):
                await stop.wait()

        def run() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(serve())

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
