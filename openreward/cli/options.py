"""Flags that several commands share, as annotated types: engine, tools, judge, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

ENGINE, JUDGE, LIMITS = "Engine and tools", "Judge", "Limits of one trajectory"

Endpoint = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        rich_help_panel=ENGINE,
        help="An OpenAI-compatible server; without it the embedded model judges.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=ENGINE,
        help="The server's model; or a local model's name, or a path to a GGUF file.",
    ),
]
Chat = Annotated[
    bool,
    typer.Option(
        "--chat", rich_help_panel=ENGINE, help="Use the server's chat endpoint, not token ids."
    ),
]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        metavar="VAR", rich_help_panel=ENGINE, help="The environment variable with the API key."
    ),
]
Adapter = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=ENGINE,
        help="A LoRA adapter as GGUF, for the embedded model.",
    ),
]
PolicyPlugin = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:FACTORY",
        rich_help_panel=ENGINE,
        help="Your own engine: a function without arguments that returns a Policy.",
    ),
]
Index = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SOURCE=DIR",
        rich_help_panel=ENGINE,
        help="A local index to search; repeatable. Default: those in the OpenReward home, "
        "unless --live is given.",
    ),
]
Live = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SOURCE",
        rich_help_panel=ENGINE,
        help="A live service to search: wikipedia, arxiv, pubmed, or all; repeatable.",
    ),
]
Contact = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        rich_help_panel=ENGINE,
        help="Your mail address or web page, which live services ask for. "
        "Default: $OPENREWARD_CONTACT, or the settings file's.",
    ),
]
ToolsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=ENGINE,
        help="Settings of live services and MCP servers, in TOML.",
    ),
]
Tape = Annotated[
    str | None,
    typer.Option(
        metavar="MODE=FILE",
        rich_help_panel=ENGINE,
        help="Keep searches on tape: record, replay (what is missing is run) or replay-strict "
        "(nothing is run).",
    ),
]
NoTools = Annotated[
    bool, typer.Option("--no-tools", rich_help_panel=ENGINE, help="Judge without looking up.")
]
Orders = Annotated[
    Literal["both", "one"],
    typer.Option(rich_help_panel=JUDGE, help="Show the answers in both orders, or in one."),
]
Votes = Annotated[int, typer.Option(min=1, rich_help_panel=JUDGE, help="Votes for each order.")]
Tie = Annotated[
    bool, typer.Option("--tie/--no-tie", rich_help_panel=JUDGE, help="Allow a tie as a verdict.")
]
Temperature = Annotated[
    float, typer.Option(min=0.0, rich_help_panel=JUDGE, help="0 is greedy; for votes take more.")
]
Seed = Annotated[int, typer.Option(min=0, rich_help_panel=JUDGE, help="Of orders and sampling.")]
TopP = Annotated[float, typer.Option(rich_help_panel=JUDGE, help="Nucleus of sampling.")]
Principle = Annotated[
    str | None,
    typer.Option(metavar="TEXT", rich_help_panel=JUDGE, help="A principle to judge by, in words."),
]
QueryTokens = Annotated[
    int, typer.Option(min=1, rich_help_panel=JUDGE, help="Tokens of a query; a longer one is cut.")
]
AnswerTokens = Annotated[
    int,
    typer.Option(min=1, rich_help_panel=JUDGE, help="Tokens of an answer; a longer one is cut."),
]


def _limit(text: str) -> Any:
    return typer.Option(min=0, rich_help_panel=LIMITS, help=text)


Calls = Annotated[int, _limit("Searches.")]
Turns = Annotated[int, _limit("Turns of the model.")]
TurnTokens = Annotated[int, _limit("Tokens of a turn.")]
TotalTokens = Annotated[int, _limit("Tokens of prompt, passages and turns together.")]
Passages = Annotated[int, typer.Option(min=1, rich_help_panel=LIMITS, help="Passages of a search.")]
EvidenceTokens = Annotated[int, _limit("Tokens of the passages of one turn.")]
SecondsPerCall = Annotated[float, _limit("Seconds of a search.")]
Seconds = Annotated[float, _limit("Seconds in all.")]
Grammar = Annotated[
    bool,
    typer.Option(
        "--grammar/--no-grammar",
        rich_help_panel=LIMITS,
        help="Hold the last turn to the form of a verdict, where the engine can.",
    ),
]

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where results go, one JSON line each."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with an output: only what is missing is done.")
]
Concurrency = Annotated[
    int | None,
    typer.Option(min=1, help="Rows at once. Default: 4 on the embedded engine, else 16."),
]
Limit = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Only the first N rows of the input.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="For machines: one object on stdout, errors as objects.")
]
