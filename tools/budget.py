"""One rate for all who ask a service: threads, processes and ranks, and machines by an endpoint.

CONTRACT ONLY, to be written.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from openreward.tools.services import Service


class Budget(Protocol):
    """Who may ask when. Implementations: a folder of locks on this machine, or an endpoint."""

    def turn(self, service: Service) -> AbstractAsyncContextManager[None]:
        """Wait for one's turn; the request is made inside the block.

        Raises `ToolError("rate_limited", ...)` when the turn would come after more than
        `service.patience` seconds, before waiting as far as that is known.
        """
        ...

    async def pause(self, service: Service, seconds: float) -> None:
        """Let nobody ask for so long: the service said so (Retry-After), or is failing."""
        ...
