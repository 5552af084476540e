"""A judge of the user's own, as `openreward eval --judge MODULE:FACTORY` takes it.

What its code raises, and what it replies that is no reply, ends the run with a line that says
where; what was answered until then is kept.
"""

from __future__ import annotations

from typing import cast, get_args

from openreward.cli.plugins import make, where
from openreward.errors import OpenRewardError, UserError, shorten
from openreward.eval.judges import Asked, Kind, MeasuredJudge, Said


class PluginJudge:
    """The judge that a factory made; `spec` names the factory in messages."""

    def __init__(self, judge: MeasuredJudge, spec: str) -> None:
        self.name, self.kind = judge.name, judge.kind
        self._judge, self._spec = judge, spec

    async def reply(self, asked: Asked) -> Said:
        """Its reply; raises `UserError` for what is none."""
        try:
            said: object = await self._judge.reply(asked)
        except OpenRewardError:
            raise
        except Exception as error:
            why = where(error, self._spec)
            raise UserError(
                f"--judge {self._spec}: question {shorten(asked.id)}: {why}; what is answered is "
                "kept; mend it, then go on with --resume"
            ) from error
        if not isinstance(said, Said):
            raise UserError(
                f"--judge {self._spec}: question {shorten(asked.id)}: expected a reply "
                f"(openreward.eval.judges.Said), got {shorten(said)}"
            )
        return said


def load_judge(spec: str) -> PluginJudge:
    """What `module:factory` returns; modules of this folder are found."""
    judge = make("--judge", spec)
    _check(judge, spec)
    return PluginJudge(cast(MeasuredJudge, judge), spec)


def _check(judge: object, spec: str) -> None:
    lacking = [part for part in ("name", "kind", "reply") if not hasattr(judge, part)]
    what = f"without {', '.join(lacking)}"
    if not lacking:
        kind, name = getattr(judge, "kind", None), getattr(judge, "name", None)
        if kind in get_args(Kind) and isinstance(name, str) and name.strip():
            return
        what = f"of kind {shorten(kind)}, named {shorten(name)}"
    raise UserError(
        f"--judge {spec}: expected a judge (openreward.eval.judges.MeasuredJudge) with a name, of "
        f"kind {', '.join(get_args(Kind))}, got {type(judge).__name__} {what}"
    )
