"""The nouns every stage hands to the next: frozen records, loadable without what made them.

Indices count from 0 in the order of the record that owns the answers (`Pair.responses`); the
letters A and B exist only inside a prompt. Times are seconds. Spans are character offsets
`[start, end)` into `Document.text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

ToolStatus = Literal["ok", "no_result", "bad_query", "rate_limited", "unavailable", "timeout"]
"""How a call ended: `no_result` and `bad_query` by the model, the last three by the service."""

VerdictStatus = Literal["ok", "tie", "unparsed", "refused", "error"]
"""`ok` has a winner, `tie` is a stated tie; the others name why there is no verdict."""

StopReason = Literal[
    "verdict",  # the model ended a turn with exactly one verdict
    "no_verdict",  # its last allowed turn held none, or two different ones
    "refused",  # the engine reported a refusal or a content filter
    "cut",  # its last turn was cut at the token limit of a turn
    "context_limit",  # the next turn would not fit the model's context
    "token_limit",  # the tokens of the whole trajectory are spent
    "time_limit",  # the seconds of the whole trajectory are spent
    "policy_error",  # the engine failed; `Trajectory.error` says how
]
PolicyFault = Literal[
    "unreachable",
    "timeout",
    "unauthorized",
    "unknown_model",
    "context_overflow",
    "rate_limited",
    "bad_request",
    "bad_response",
    "server_error",
]
"""How an engine failed. `unreachable`, `unauthorized` and `unknown_model` fail every row alike."""

PolicyPath = Literal["token", "chat"]
FinishReason = Literal["stop", "length", "refused"]
Role = Literal["system", "user", "assistant", "tool"]


class Record(BaseModel):
    """Base of everything written to disk or wire: frozen, and unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Document(Record):
    """One retrievable text and where it came from. `revision` is a revision id or an ISO date."""

    id: str = Field(min_length=1)
    source: str = Field(min_length=1)  # wikipedia | arxiv | pubmed | the user's own
    title: str
    text: str = Field(min_length=1)
    url: str | None = None
    revision: str | None = None


class Passage(Record):
    """A piece of one document: `text` is `Document.text[start:end]`."""

    document_id: str
    source: str
    title: str
    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    url: str | None = None
    revision: str | None = None
    score: float | None = None


class Pair(Record):
    """A query with two answers to compare. `label` is the index of the better one, when known."""

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    responses: tuple[str, str]
    label: Literal[0, 1, "tie"] | None = None
    source: str | None = None  # the domain whose tool is the right one
    meta: dict[str, JsonValue] = Field(default_factory=dict)


class Task(Record):
    """One thing to judge, as shown: `responses[0]` is A. `tie` allows a tie as a verdict."""

    id: str
    query: str
    responses: tuple[str, ...]
    tie: bool = False
    principle: str | None = None
    seed: int = 0


class ToolSpec(Record):
    """What the model is told of a tool; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]

    def function(self) -> dict[str, JsonValue]:
        """The form that chat templates and chat endpoints take."""
        return {"type": "function", "function": self.model_dump(mode="json")}


class ToolCall(Record):
    """A call as the model asked for it. `id` is unique within the trajectory."""

    id: str
    name: str
    arguments: dict[str, JsonValue]


class ToolResult(Record):
    """What a call brought: passages when `ok`, else `message` tells the model what to do."""

    call_id: str
    status: ToolStatus
    passages: tuple[Passage, ...] = ()
    message: str = ""
    seconds: float = 0.0
    cached: bool = False

    @model_validator(mode="after")
    def _passages_mean_ok(self) -> ToolResult:
        if (self.status == "ok") != bool(self.passages):
            raise ValueError(f"status {self.status!r} with {len(self.passages)} passages")
        return self


class Message(Record):
    """One chat message. `tool_calls` and `tool_call_id` are set on the native chat path only."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Usage(Record):
    """Tokens as the engine counted them; `cached_tokens` were not computed anew."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


class Times(Record):
    """Wall seconds of a trajectory, and how much of them went to the engine and to tools."""

    total: float = 0.0
    policy: float = 0.0
    tools: float = 0.0


class Turn(Record):
    """One turn of the model, and what its calls brought.

    `context_ids` are the ids put before it since the previous turn (mask 0), `token_ids` the
    sampled ones (mask 1), `logprobs` theirs; all empty on the chat path.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    problems: tuple[str, ...] = ()  # what could not be read, as told to the model
    forced: bool = False  # the engine constrained the form of this turn
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    context_ids: tuple[int, ...] = ()
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _one_length(self) -> Turn:
        if self.logprobs and len(self.logprobs) != len(self.token_ids):
            raise ValueError(f"{len(self.token_ids)} token ids, {len(self.logprobs)} logprobs")
        if len(self.results) > len(self.tool_calls):
            raise ValueError(f"{len(self.tool_calls)} calls, {len(self.results)} results")
        return self


class Evidence(Record):
    """One line of the ledger: which passage of which document revision a query brought.

    `number` is the one the model saw in brackets; `cited` says whether its last turn names it.
    """

    number: int
    tool: str
    query: str
    passage: Passage
    cut: bool = False  # shown only in part, to keep the evidence budget
    cited: bool = False


class Verdict(Record):
    """What the model decided; `winner` is an index in the order SHOWN."""

    status: VerdictStatus
    winner: int | None = None
    forced: bool = False

    @model_validator(mode="after")
    def _winner_means_ok(self) -> Verdict:
        if (self.status == "ok") != (self.winner is not None):
            raise ValueError(f"status {self.status!r} with winner {self.winner!r}")
        return self


class TokenTrace(NamedTuple):
    """A trajectory as a trainer wants it; the last three are of one length."""

    prompt_ids: list[int]
    completion_ids: list[int]
    logprobs: list[float]  # 0.0 where mask is 0
    mask: list[int]  # 1 on sampled tokens only


class Trajectory(Record):
    """Everything one run of the agent loop did; `prompt` is the conversation before turn one."""

    task: str
    path: PolicyPath
    model: str
    prompt: tuple[Message, ...]
    turns: tuple[Turn, ...]
    evidence: tuple[Evidence, ...]
    verdict: Verdict
    explanation: str = ""
    stop_reason: StopReason
    error: str | None = None
    fault: PolicyFault | None = None
    usage: Usage = Usage()
    times: Times = Times()

    def tokens(self) -> TokenTrace:
        """Prompt and completion ids, logprobs and mask; empty on the chat path."""
        prompt = list(self.turns[0].context_ids) if self.turns else []
        trace = TokenTrace(prompt, [], [], [])
        for index, turn in enumerate(self.turns):
            context = turn.context_ids if index else ()
            trace.completion_ids.extend([*context, *turn.token_ids])
            trace.logprobs.extend([0.0] * len(context) + list(turn.logprobs))
            trace.mask.extend([0] * len(context) + [1] * len(turn.token_ids))
        return trace

    def without_tokens(self) -> Trajectory:
        """The same record without ids and logprobs, which only trainers want written."""
        empty = {"context_ids": (), "token_ids": (), "logprobs": ()}
        turns = tuple(turn.model_copy(update=empty) for turn in self.turns)
        return self.model_copy(update={"turns": turns})


class Vote(Record):
    """One trajectory's verdict; in `order` its answers were shown, `order[i]` at place i."""

    order: tuple[int, ...]
    vote: int
    status: VerdictStatus
    winner: int | None = None  # an index in the Pair, order undone
    trajectory: Trajectory


class Judgment(Record):
    """The outcome for one pair; `tie` also when the two orders differ, and `votes` keep both."""

    id: str
    status: VerdictStatus
    winner: int | None = None
    reason: str = ""  # why there is no winner, in words
    fault: PolicyFault | None = None
    explanation: str = ""
    label: Literal[0, 1, "tie"] | None = None
    evidence: tuple[Evidence, ...] = ()
    votes: tuple[Vote, ...] = ()
    notes: tuple[str, ...] = ()  # what was cut before judging; searches that all failed
    usage: Usage = Usage()
    times: Times = Times()


def total_usage(parts: Sequence[Usage]) -> Usage:
    """The sum of several usages."""
    return sum(parts, Usage())
