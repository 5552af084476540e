"""PubMedQA's file: PMID -> question, parts of the abstract, and answers.

The question is the title of the paper, so it is the document's. The parts of the abstract are its
text; the answers (LONG_ANSWER is the abstract's conclusion) never enter it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from openreward.errors import shorten
from openreward.synth.reading import Skipped, read_members
from openreward.tools.pubmed_records import make_document
from openreward.types import Document


class _Abstract(BaseModel):
    model_config = ConfigDict(extra="ignore")

    QUESTION: str
    CONTEXTS: list[str]
    LABELS: list[str] = []
    YEAR: str | None = None


def read_pubmed_qa(path: Path, skipped: Skipped) -> Iterator[Document]:
    """The abstracts without their conclusions; read whole, as one JSON value must be."""
    for pmid, value in read_members(path):
        where = f"{path.name}, {shorten(pmid)}"
        try:
            abstract = _Abstract.model_validate(value)
        except ValidationError:
            skipped.add("broken row (wrong_fields)", where)
            continue
        text = "\n".join(_paragraphs(abstract))
        if not re.fullmatch(r"[0-9]{1,10}", pmid):
            skipped.add("no PMID", where)
        elif not text:
            skipped.add("no abstract", where)
        else:
            year = abstract.YEAR if re.fullmatch(r"[0-9]{4}", abstract.YEAR or "") else None
            yield make_document(pmid, " ".join(abstract.QUESTION.split()), text, year)


def _paragraphs(abstract: _Abstract) -> Iterator[str]:
    """The parts, each behind its label, where each has one."""
    labels = abstract.LABELS if len(abstract.LABELS) == len(abstract.CONTEXTS) else []
    for place, context in enumerate(abstract.CONTEXTS):
        text = " ".join(context.split())
        label = " ".join(labels[place].split()) if labels else ""
        if text:
            yield f"{label}: {text}" if label and label != "UNLABELLED" else text
