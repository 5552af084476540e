"""The shapes engines answer in, read leniently: unknown fields are ignored, missing ones named.

The forms of llama.cpp, vLLM (0.10 to 0.31) and the OpenAI chat API. `CompletionLogprobs` holds both
forms of a completion's logprobs: `content` is llama.cpp's, `token_logprobs` vLLM's.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from openreward.errors import PolicyError
from openreward.types import FinishReason, Usage


class Wire(BaseModel):
    """Base of everything read from an engine."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


class ServedModel(Wire):
    """One line of /v1/models. llama.cpp: `meta.n_ctx`, `aliases`; vLLM: `max_model_len`."""

    class Meta(Wire):
        """llama.cpp's own fields."""

        n_ctx: int | None = None

    id: str
    aliases: tuple[str, ...] = ()
    max_model_len: int | None = None
    meta: Meta | None = None


class ServedModels(Wire):
    """What /v1/models answers."""

    data: tuple[ServedModel, ...]


class Props(Wire):
    """What llama.cpp's /props answers."""

    class Generation(Wire):
        """Settings of one slot."""

        n_ctx: int

    default_generation_settings: Generation
    chat_template: str
    bos_token: str = ""
    eos_token: str = ""


class Version(Wire):
    """What vLLM's /version answers."""

    version: str


class Tokens(Wire):
    """What /tokenize answers, llama.cpp's and vLLM's."""

    tokens: tuple[int, ...]
    max_model_len: int | None = None


class Text(Wire):
    """What vLLM's /detokenize answers."""

    prompt: str


class PromptDetails(Wire):
    """The part of the prompt that was not recomputed."""

    cached_tokens: int | None = None


class WireUsage(Wire):
    """Token counts; servers leave out or null what they do not count."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None

    def usage(self) -> Usage:
        """The same as the project counts it."""
        details = self.prompt_tokens_details or PromptDetails()
        return Usage(
            prompt_tokens=max(0, self.prompt_tokens or 0),  # below 0 would lift a limit
            completion_tokens=max(0, self.completion_tokens or 0),
            cached_tokens=max(0, details.cached_tokens or 0),
        )


class Scored(Wire):
    """A token and its logprob; null where it is not a number."""

    id: int
    logprob: float | None


class TokenLogprob(Scored):
    """One sampled token of llama.cpp, and the likeliest in its place."""

    top_logprobs: tuple[Scored, ...] = ()


class CompletionLogprobs(Wire):
    """Logprobs of a completion in either form."""

    content: tuple[TokenLogprob, ...] | None = None
    token_logprobs: tuple[float | None, ...] | None = None


class CompletionChoice(Wire):
    """One completion. `token_ids` is vLLM's answer to `return_token_ids`."""

    text: str
    finish_reason: str | None = None
    logprobs: CompletionLogprobs | None = None
    token_ids: tuple[int, ...] | None = None


class Completion(Wire):
    """What /v1/completions answers."""

    choices: Annotated[tuple[CompletionChoice, ...], Field(min_length=1)]
    usage: WireUsage | None = None


class CalledFunction(Wire):
    """A native call; `arguments` is a JSON string, or by some servers the object itself."""

    name: str | None = None
    arguments: JsonValue = None


class NativeCall(Wire):
    """One entry of `tool_calls`."""

    id: str | None = None
    function: CalledFunction | None = None


class TextPart(Wire):
    """One part of a content list."""

    type: str = "text"
    text: str = ""


def _plain(content: object) -> object:
    """Content as text: a list of parts is joined, null is empty."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [TextPart.model_validate(part) for part in content]
        return "".join(part.text for part in parts if part.type == "text")
    return content


class ChatMessage(Wire):
    """What the assistant said. Thinking that a server splits off is not read."""

    role: Literal["assistant"] | None = None
    content: Annotated[str, BeforeValidator(_plain)] = ""
    refusal: str | None = None
    tool_calls: tuple[NativeCall, ...] | None = None


class ChatChoice(Wire):
    """One answer."""

    message: ChatMessage
    finish_reason: str | None = None


class ChatCompletion(Wire):
    """What /v1/chat/completions answers."""

    choices: Annotated[tuple[ChatChoice, ...], Field(min_length=1)]
    usage: WireUsage | None = None


def read_finish(reason: str | None) -> FinishReason:
    """Why a turn ended, by any server's word; `PolicyError` when the server gave it up."""
    if reason in ("abort", "error"):
        raise PolicyError("server_error", f"the server ended the turn with {reason!r}; see its log")
    if reason == "content_filter":
        return "refused"
    return "length" if reason == "length" else "stop"
