"""A live service as its operator set it: where it is, who asks, how often it may be asked.

The limits are those the services state (arXiv: one request in 3 s, one at a time, over all of an
operator's machines; NCBI: 3 a second, 10 with a key; Wikipedia: at most 3 at once). Each is a
setting, for mirrors, proxies and tests.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from openreward.types import Record

ServiceName = Literal["wikipedia", "arxiv", "pubmed"]


class RateLimit(Record):
    """How often a service may be asked by all of an operator's threads, processes and machines."""

    interval: float = Field(ge=0, allow_inf_nan=False)  # seconds between the starts of two requests
    at_once: int = Field(ge=1)  # requests under way


class Service(Record):
    """One live service. `url` is the address its requests go to; nothing else is asked."""

    name: ServiceName
    url: str
    contact: str = Field(min_length=3)  # the operator's mail address or web page
    limit: RateLimit
    hosts: tuple[str, ...] = ()  # other hosts of the service, to which a redirect may lead
    api_key: SecretStr | None = None
    language: str = "en"
    timeout: float = Field(default=15.0, gt=0, allow_inf_nan=False)  # seconds of one request, whole
    tries: int = Field(default=3, ge=1)
    patience: float = Field(default=15.0, ge=0, allow_inf_nan=False)  # seconds of waiting in line
    max_bytes: int = Field(default=8_000_000, ge=1_000)  # of an answer, unpacked
