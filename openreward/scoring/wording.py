"""The words of the prompts in one language: what every step tells the model, and its examples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """System messages of the steps, the questions behind the material, and the heads of fences."""

    helpfulness: str
    logicality: str
    statements: str
    statements_to_search: str  # the same, with words to search for beside each
    extraction: str
    support: str
    completeness: str
    ask_score: str  # behind the material
    ask_errors: str
    ask_statements: str
    ask_extraction: str
    ask_support: str
    ask_coverage: str
    question: str  # heads of fences
    answer: str
    statement: str
    document: str
    passage: str
    points: str
    empty: str  # stands for a text that is
    nothing: str  # stands for points where no piece bears on the question
    no_passage: str
    end: str
    supports: tuple[str, str, str]  # full, partial, none
    no_statements: str
    nothing_relevant: str

    def longest(self) -> str:
        """The step that has the most words, to know what is left for the material."""
        steps = (self.helpfulness, self.logicality, self.statements_to_search, self.extraction)
        return max((*steps, self.support, self.completeness), key=len)
