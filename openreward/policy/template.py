"""A model's chat template, rendered as transformers does it: sandboxed Jinja, conversation to text.

The template is text that a server sent, so it runs where it can change nothing. What it cannot
render is a `TemplateRefusal`; at connect time they tell what it can do (`token_path.Traits`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from openreward.errors import PolicyError
from openreward.types import Message, ToolSpec

_FAILURES = (
    jinja2.TemplateError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


class TemplateRefusal(Exception):
    """The template does not render this conversation; the message is its own."""


class ChatTemplate:
    """A template and the tokenizer's begin and end tokens; `PolicyError` if it is not Jinja."""

    def __init__(self, source: str, *, bos: str = "", eos: str = "") -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._tokens = {"bos_token": bos, "eos_token": eos}
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise PolicyError(
                "bad_response",
                f"the server's chat template is not valid Jinja: {error}; use --chat",
            ) from None

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        generation: bool = True,
    ) -> str:
        """The conversation as text; `generation` adds the opening of the model's next turn."""
        try:
            return self._template.render(
                messages=[plain(message) for message in messages],
                tools=[tool.function() for tool in tools] or None,
                documents=None,
                add_generation_prompt=generation,
                **self._tokens,
            )
        except _FAILURES as error:
            raise TemplateRefusal(str(error) or type(error).__name__) from None


def plain(message: Message) -> dict[str, str]:
    """A message as templates take it; assistant content is the raw sampled text."""
    return {"role": message.role, "content": message.content}


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON without the HTML escapes of Jinja's own filter, which no model was trained on."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)
