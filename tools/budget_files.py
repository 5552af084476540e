"""The lines of one machine as files: a lock, held for a moment, and a state that is replaced whole.

The lock is the kernel's (flock), so a process that dies lets go of it. The clock is the monotonic
one, which all processes of a machine share and nobody can set; a boot has files of its own, for its
clock starts anew. A state that cannot be read counts as if a request had just started.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from openreward.errors import ToolError, UserError
from openreward.tools import budget_line as rules
from openreward.tools.budget_line import Answer, Ask, Line, Step
from openreward.tools.services import ServiceName

_log = logging.getLogger(__name__)
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LARGEST = 1 << 20  # bytes of a state; more is not ours
_LOCKED = 5.0  # seconds after which a lock that is not let go is an error
_DONE = Answer(outcome="go")
_LEAVING = 0.5  # the same for one who leaves, which must not wait: the lease ends anyway


class LineFiles:
    """Keeps the lines in a folder; raises `UserError` where it cannot be written to."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self.folder = folder
        self._clock = clock
        self._boot = _boot()
        self._chance = random.Random()
        probe = folder / f"probe-{os.getpid()}-{self._chance.getrandbits(32):08x}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"writable\n")
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise UserError(
                f"cannot keep the request budget in {folder}: {error}; make room, or name another "
                "OpenReward home"
            ) from None
        finally:
            with contextlib.suppress(OSError, ValueError):
                probe.unlink()

    async def ask(self, wish: Ask) -> Answer:
        """Whether it is one's turn."""
        return await self._when_free(
            wish.service, lambda line: rules.ask(line, wish, self._clock())
        )

    async def pause(self, service: ServiceName, seconds: float) -> None:
        """Let nobody start for so long."""
        await self._when_free(
            service,
            lambda line: Step(rules.pause(line, seconds, self._clock()), Answer(outcome="go")),
        )

    async def leave(self, service: ServiceName, ticket: str) -> None:
        """Give up one's turn or place, without a point at which a cancellation could stop it."""
        give_up = time.monotonic() + _LEAVING
        try:
            while not self._try(
                service,
                lambda line: Step(rules.leave(line, ticket, self._clock()), Answer(outcome="go")),
            ):
                if time.monotonic() > give_up:
                    raise self._stuck(service)
                time.sleep(0.001)
        except ToolError as error:
            _log.warning("a turn at %s is not given back but ends by its lease: %s", service, error)

    def lines(self) -> dict[ServiceName, Line]:
        """The line of each service, as it is now."""
        now = self._clock()
        return {
            name: rules.tidy(self._read(name), now)
            for name in get_args(ServiceName)
            if self._state(name).exists()
        }

    def now(self) -> float:
        """The moment on the clock of the lines."""
        return self._clock()

    async def _when_free(self, service: ServiceName, move: Callable[[Line], Step]) -> Answer:
        """Wait for the lock without holding up the event loop."""
        give_up = time.monotonic() + _LOCKED
        while (answer := self._try(service, move)) is None:
            if time.monotonic() > give_up:
                raise self._stuck(service)
            await asyncio.sleep(self._chance.uniform(0.001, 0.005))
        return answer

    def _try(self, service: ServiceName, move: Callable[[Line], Step]) -> Answer | None:
        """Move the line on; None while somebody else does. What fails leaves it as it was."""
        try:
            with self._lock(service) as held:
                if not held:
                    return None
                step = move(self._read(service))
                self._write(service, step.line)
                return step.answer
        except OSError as error:
            raise ToolError(
                "unavailable",
                f"no request can be made: the budget in {self.folder} cannot be kept "
                f"({error.strerror or error}); go on without this tool",
            ) from None

    @contextmanager
    def _lock(self, service: ServiceName) -> Iterator[bool]:
        """Whether we hold the lock. It is opened anew each time: so threads exclude each other."""
        path = self.folder / f"{service}.lock"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            held = True
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held = False
            yield held
        finally:
            os.close(lock)

    def _read(self, service: ServiceName) -> Line:
        try:
            with self._state(service).open("rb") as file:
                content = file.read(_LARGEST + 1)
            if len(content) <= _LARGEST:
                return Line.model_validate_json(content)
        except FileNotFoundError:
            return Line()
        except ValidationError:
            pass
        _log.warning("%s was broken; it begins anew", self._state(service))
        return Line(last=self._clock())

    def _write(self, service: ServiceName, line: Line) -> None:
        part = self.folder / f"{service}.part"  # one writer, who holds the lock
        part.write_bytes(line.model_dump_json().encode())
        part.replace(self._state(service))

    def _state(self, service: ServiceName) -> Path:
        return self.folder / f"{service}-{self._boot}.json"

    def _stuck(self, service: ServiceName) -> ToolError:
        return ToolError(
            "unavailable",
            f"no request can be made: another process holds {self.folder / f'{service}.lock'} and "
            "does not let go (is it stopped?); go on without this tool",
        )


def _boot() -> str:
    """What names this boot of the machine; where the system has no such name, all are one."""
    try:
        return _BOOT.read_text(encoding="ascii").strip().replace("-", "")[:12] or "boot"
    except (OSError, UnicodeDecodeError):
        return "boot"
