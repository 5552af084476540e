"""The error tree. A message says what was expected, what was got (shortened), and what to do.

`exit_code` is what the command line ends with: 2 the user's input or setting, 3 an engine or a
service. `SOME_ROWS_FAILED` (though the rest was done) is no error of this tree.
"""

from __future__ import annotations

from openreward.types import PolicyFault, ToolStatus

SOME_ROWS_FAILED = 4  # an exit code beside those of the errors


class OpenRewardError(Exception):
    """Base of every error a user can cause or cure."""

    exit_code = 1


class UserError(OpenRewardError):
    """A setting, a file or a field is not what it must be."""

    exit_code = 2


class RecordError(UserError):
    """A row or a file of records cannot be read, or must not be written to."""


class IndexMismatch(UserError):
    """A local index is missing, broken, or of another version or source."""


class MissingExtra(UserError):
    """An optional dependency is needed and not installed."""


class FetchError(OpenRewardError):
    """A download failed in a way that another try may cure."""

    exit_code = 3


class Interrupted(OpenRewardError):
    """The user stopped a run that can be continued."""

    exit_code = 130


class PolicyError(OpenRewardError):
    """The engine could not give a turn; `fault` says in which way."""

    exit_code = 3

    def __init__(self, fault: PolicyFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class ToolError(OpenRewardError):
    """A call failed in a way that the model can act on; it is shown to the model and counted."""

    exit_code = 3

    def __init__(self, status: ToolStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def shorten(value: object, limit: int = 80) -> str:
    """A value as an error message quotes it: its repr, cut in the middle."""
    text = repr(value)
    if len(text) <= limit:
        return text
    half = (limit - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
