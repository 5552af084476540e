"""A process that asks a service in turn with others: `python budget_asker.py JSON`.

Each of its threads has an event loop, a budget and a fetch of its own, as ranks and workers have.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

from pydantic import BaseModel

from openreward.errors import ToolError
from openreward.tools.budget import FolderBudget
from openreward.tools.budget_client import EndpointBudget
from openreward.tools.fetch import Fetch, Reply
from openreward.tools.services import Service


class Job(BaseModel):
    service: Service
    budget: str  # a folder, or the address of an endpoint
    threads: int = 1
    requests: int = 1  # of each thread


async def ask(job: Job) -> None:
    if job.budget.startswith("http"):
        async with EndpointBudget(job.budget) as budget, Fetch(job.service, budget) as fetch:
            await ask_often(fetch, job.requests)
        return
    async with Fetch(job.service, FolderBudget(Path(job.budget))) as fetch:
        await ask_often(fetch, job.requests)


async def ask_often(fetch: Fetch, requests: int) -> None:
    for number in range(requests):
        try:
            outcome = await fetch.get({"n": str(number)}, status)
        except ToolError as error:
            outcome = f"{error.status}: {error}"
        sys.stdout.write(f"{outcome}\n")
        sys.stdout.flush()


def status(reply: Reply) -> str:
    return str(reply.status)


def main() -> None:
    job = Job.model_validate_json(sys.argv[1])
    threads = [threading.Thread(target=asyncio.run, args=(ask(job),)) for _ in range(job.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
