"""Runs of commands over live services on loopback, by a policy that calls the tools it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from judge_runs import rows, write_rows
from service_server import (
    Answer,
    Asked,
    ServiceServer,
    arxiv_world,
    of_type,
    pubmed_world,
    wikipedia_world,
)

SEARCHER = '''
"""Calls each tool of $TOOLS at once, with the row's question and $MORE, then decides."""

import json
import os
import re

from openreward.policy.scripted import ScriptedPolicy


def script(conversation, sampling):
    if any(message.role == "assistant" for message in conversation.messages):
        return "By [1], the first. <answer>A</answer>"
    text = "".join(message.content for message in conversation.messages)
    query = re.search(r"question \\d+ of poles", text).group() + os.environ.get("MORE", "")
    calls = [{"name": name if "_" in name else f"{name}_search",
              "arguments": {os.environ.get("ARGUMENT", "query"): query}}
             for name in os.environ["TOOLS"].split()]
    return "".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in calls)


def policy():
    return ScriptedPolicy(script, delay=float(os.environ.get("DELAY", "0")))
'''
PATHS = {"wikipedia": "/w/api.php", "arxiv": "/api/query", "pubmed": "/eutils"}
Serve = Callable[[Asked], Answer]


def world(asked: Asked) -> Answer:
    """All three services behind one address."""
    if asked.path.startswith("/eutils"):
        return pubmed_world(asked)
    return wikipedia_world(asked) if asked.path == "/w/api.php" else arxiv_world(asked)


def down(asked: Asked) -> Answer:
    """All three services, out of order."""
    return of_type("text/html", "<html>Service unavailable</html>", status=503)


def served(folder: Path, serve: Serve = world, count: int = 4) -> ServiceServer:
    """A server to enter; rows, the policy, and `tools.toml` that names it lie in the folder."""
    made = [{**row, "query": f"{row['query']} of poles"} for row in rows(count)]
    write_rows(folder, made)
    (folder / "searcher.py").write_text(SEARCHER)
    server = ServiceServer(serve)
    text = 'contact = "ada@example.org"\n'
    for name, path in PATHS.items():
        text += f'[services.{name}]\nurl = "{server.url}{path}"\n'
        text += "interval = 0\nat_once = 3\ntries = 1\n"
    (folder / "tools.toml").write_text(text)
    return server


def library() -> str:
    """The table of a settings file for the MCP server of the tests."""
    script = Path(__file__).parent.parent / "tools" / "mcp_library_server.py"
    command = f"command = {json.dumps(sys.executable)}"
    return f"[mcp.books]\n{command}\nargs = {json.dumps([str(script), 'stdio'])}\n"


def openreward(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command in the folder, whose OpenReward home is `home` there."""
    return subprocess.run(
        [sys.executable, "-m", "openreward.cli.main", *arguments],
        cwd=folder,
        env=variables(folder, environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def variables(folder: Path, more: dict[str, str]) -> dict[str, str]:
    """The environment of a run: this one's, and nothing in it of launchers or a contact."""
    launchers = ("WORLD_SIZE", "SLURM_", "GROUP_", "PMI_", "OMPI_", "MV2_", "OPENREWARD_CONTACT")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(launchers)}
    return {**kept, "OPENREWARD_HOME": str(folder / "home"), "TOOLS": "pubmed", **more}


def flags(*more: str, live: Sequence[str] = ("pubmed",), output: str = "out.jsonl") -> list[str]:
    """`judge` over the file of pairs with live tools."""
    named = [part for name in live for part in ("--live", name)]
    return ["judge", "in.jsonl", "-o", output, "--policy", "searcher:policy",
            *named, "--tools", "tools.toml", *more]  # fmt: skip
