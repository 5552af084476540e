"""The flags of `openreward synth scenarios` that are settings of the set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from openreward.cli.flags import in_panel, settings_of
from openreward.synth.scenario_records import ScenarioSettings

SIFTING, WRITING, ITEMS = "Which prompts stay", "Answers and their scores", "Pairs and items"
_D = ScenarioSettings()
_sifting, _writing, _items = in_panel(SIFTING), in_panel(WRITING), in_panel(ITEMS)


@dataclass(frozen=True)
class ScenarioFlags:
    """How prompts are sifted, answered, scored and paired: the fields of `ScenarioSettings`."""

    language: Annotated[
        Literal["english", "any"], _sifting("english: drop what is not; any: take all.")
    ] = _D.language
    latin: Annotated[float, _sifting("English: least share of letters in Latin script.")] = _D.latin
    small_words: Annotated[
        float, _sifting("English: least share of its small words (the, of, and, ...).")
    ] = _D.small_words
    shortest: Annotated[int, _sifting("Characters of a prompt, at least.")] = _D.shortest
    longest: Annotated[int, _sifting("Characters of a prompt, at most.")] = _D.longest
    near: Annotated[
        float,
        _sifting("Share of runs of three words in common that makes a duplicate (by words only)."),
    ] = _D.near
    easy: Annotated[
        float, _sifting("A weak model's answer of this score drops the prompt; over 5: none.")
    ] = _D.easy
    writer_tokens: Annotated[
        int, _writing("Tokens of an answer; a longer one is cut, and not used.")
    ] = _D.writer_tokens
    instruction: Annotated[
        str | None, _writing("A system message for the writers, such as a length to keep to.")
    ] = None
    judge_temperature: Annotated[float, _writing("The judge's temperature.")] = _D.judge_temperature
    judge_tokens: Annotated[int, _writing("Tokens of a turn of the judge.")] = _D.judge_tokens
    prompt_tokens: Annotated[
        int, _writing("Tokens of a prompt as the judge is shown it; a longer one is cut.")
    ] = _D.prompt_tokens
    answer_tokens: Annotated[
        int, _writing("Tokens of an answer as the judge is shown it; a longer one is cut.")
    ] = _D.answer_tokens
    apart: Annotated[float, _items("Scores of a pair differ by less than this.")] = _D.apart
    fewest_losers: Annotated[int, _items("Losers of a best-of-N item, at least.")] = (
        _D.fewest_losers
    )
    most_losers: Annotated[int, _items("Losers of a best-of-N item, at most.")] = _D.most_losers
    seed: Annotated[int, _items("Of all that is drawn.")] = _D.seed

    def settings(self) -> ScenarioSettings:
        """The settings; raises `UserError` where one is out of its range."""
        return settings_of(self, ScenarioSettings)
