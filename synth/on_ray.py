"""The same rows from a Ray cluster: tasks read parts of the documents, actors write the rows.

A part is a shard of the document stream, so every node reads the files where it runs: they must lie
where all nodes see them. Rows come back to the driver, which appends them, so output, totals and
resuming are those of a run on one machine. Needs the extra `[scale]`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from openreward.batch import NotDone
from openreward.errors import PolicyError, UserError, shorten
from openreward.records import RowError
from openreward.resume import Ids
from openreward.synth.document_stream import DocumentStream
from openreward.synth.pair_records import PairRow
from openreward.synth.reading import Skipped
from openreward.types import Document

Work = Callable[[Document], Awaitable[PairRow]]
OpenWork = Callable[[], AbstractAsyncContextManager[Work]]

_BATCHES = 4  # that an actor of Ray Data works on at once
_CPUS = 0.1  # an actor waits for its writers; with a whole one each they would starve the reading
_FIELD = "json"


class Cluster(NamedTuple):
    """Where to run, how many actors write, and how many documents each has in hand at once.

    `address` is that of a running cluster, `auto` the one of this environment, `local` a new one.
    """

    address: str = "local"
    actors: int = 1
    at_once: int = 16
    parts: int = 8


class RayRun(NamedTuple):
    """What is done: `stream` gives part k of n of the documents, `work` is opened by each actor."""

    stream: Callable[[tuple[int, int]], DocumentStream]
    work: OpenWork
    cluster: Cluster
    done: Ids


def rows_on_ray(run: RayRun) -> Iterator[PairRow | RowError | Skipped]:
    """The rows as they come, an error for a document that is not done, and what was left out.

    Raises `PolicyError` for faults that fail every document.
    """
    ray = _ray()
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if run.cluster.address == "local":
        ray.init(include_dashboard=False, **quiet)
    else:
        ray.init(address=run.cluster.address, **quiet)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        for found in _dataset(ray, run).iter_rows():
            yield _read(found[_FIELD])
    finally:
        ray.shutdown()


def _dataset(ray: Any, run: RayRun) -> Any:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    parts = ray.data.range(run.cluster.parts, override_num_blocks=run.cluster.parts)
    documents = parts.flat_map(_Reader(run.stream, run.cluster.parts, run.done))
    return documents.map_batches(
        _Writer,
        fn_constructor_args=(run.work,),
        batch_size=max(1, run.cluster.at_once // _BATCHES),
        num_cpus=_CPUS,
        compute=ray.data.ActorPoolStrategy(size=run.cluster.actors),
    )


class _Reader:
    """The documents of a part that are not done yet; part 1 also tells what was left out."""

    def __init__(
        self, stream: Callable[[tuple[int, int]], DocumentStream], parts: int, done: Ids
    ) -> None:
        self._stream, self._parts, self._done = stream, parts, done

    def __call__(self, row: Mapping[str, int]) -> Iterator[dict[str, str]]:
        part = int(row["id"]) + 1
        stream = self._stream((part, self._parts))
        for found in stream.rows():
            if not self._done.is_done(found.record.id):
                yield {_FIELD: f"document {found.record.model_dump_json()}"}
        if part == 1:  # every part meets all documents
            skipped = [stream.skipped.counts, stream.skipped.first]
            yield {_FIELD: f"skipped {json.dumps(skipped)}"}


class _Writer:
    """An actor: opens its writers with the first batch, and keeps them while it lives."""

    def __init__(self, work: OpenWork) -> None:
        self._open = work
        self._opened: asyncio.Task[Work] | None = None

    async def __call__(self, batch: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        if self._opened is None:
            self._opened = asyncio.create_task(_enter(self._open))
        try:
            work = await asyncio.shield(self._opened)
        except (UserError, PolicyError) as error:
            return {_FIELD: [_fatal(error)]}
        return {_FIELD: list(await asyncio.gather(*(_do(work, each) for each in batch[_FIELD])))}


async def _enter(opening: OpenWork) -> Work:
    """The work, open until the process of the actor ends."""
    return await opening().__aenter__()


async def _do(work: Work, sent: str) -> str:
    """What a document came to, in the form that travels."""
    kind, _, data = sent.partition(" ")
    if kind != "document":
        return sent
    document = Document.model_validate_json(data)
    try:
        return f"row {(await work(document)).model_dump_json()}"
    except NotDone as error:
        message = f"document {shorten(document.id)}: {error}"
        return f"error {RowError(line=0, fault='not_done', message=message).model_dump_json()}"
    except PolicyError as error:
        return _fatal(error)


def _fatal(error: UserError | PolicyError) -> str:
    fault = error.fault if isinstance(error, PolicyError) else ""
    return f"fatal {json.dumps([fault, str(error)])}"


def _read(sent: str) -> PairRow | RowError | Skipped:
    kind, _, data = sent.partition(" ")
    if kind == "row":
        return PairRow.model_validate_json(data)
    if kind == "error":
        return RowError.model_validate_json(data)
    if kind == "skipped":
        counts, first = json.loads(data)
        return Skipped(counts, first)
    fault, message = json.loads(data)
    raise PolicyError(fault, message) if fault else UserError(message)


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise UserError(
            "--ray needs Ray: pip install 'openreward-rm[scale]'; or take --shard K/N on each "
            "machine"
        ) from None
    return ray
