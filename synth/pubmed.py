"""PubMed's two file forms as documents: XML (articles and book chapters) and MEDLINE text.

The XML is read by our own reader, an article at a time: Biopython's parser wants each file's DTD,
would fetch one that it lacks, and makes folders in the user's home when it is imported.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO, cast
from xml.etree.ElementTree import Element

from openreward.errors import RecordError
from openreward.records import open_bytes
from openreward.synth.reading import Skipped, unreadable
from openreward.tools.pubmed_records import ARTICLES, iso_date, make_document, read_article
from openreward.tools.xml_reader import BrokenXml, XmlReader
from openreward.types import Document

_BLOCK = 1 << 16

_Fields = dict[str, str | list[str]]


def read_pubmed_xml(path: Path, skipped: Skipped) -> Iterator[Document]:
    """Articles and book chapters that have an abstract."""
    for number, element in enumerate(_elements(path), start=1):
        where = f"{path.name}, article {number}"
        article = read_article(element)
        if not article.pmid:
            skipped.add("no PMID", where)
        elif not article.text:
            skipped.add("no abstract", f"{where} (PMID {article.pmid})")
        else:
            yield make_document(article.pmid, article.title, article.text, article.date)


def read_medline(path: Path, skipped: Skipped) -> Iterator[Document]:
    """Records of MEDLINE text, as PubMed saves it, that have an abstract."""
    from Bio import Medline

    try:
        with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
            parse = cast(Callable[[TextIO], Iterator[_Fields]], Medline.parse)
            for number, fields in enumerate(parse(lines), start=1):
                where = f"{path.name}, record {number}"
                pmid, text = _field(fields, "PMID"), _field(fields, "AB")
                if not pmid:
                    skipped.add("no PMID", where)
                elif not text:
                    skipped.add("no abstract", f"{where} (PMID {pmid})")
                else:
                    title = _field(fields, "TI") or _field(fields, "BTI") or _field(fields, "TT")
                    yield make_document(pmid, title, text, _date(fields))
    except KeyError:  # Biopython's, for a continuation line without a field before it
        raise RecordError(
            f"{path}: expected MEDLINE text that begins with a field such as `PMID- 1`, got a line "
            "that continues one; save the records again in the format PubMed calls PubMed"
        ) from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def _elements(path: Path) -> Iterator[Element]:
    reader = XmlReader(ARTICLES)
    try:
        with open_bytes(path) as file:
            block = b"\n"
            while block:
                block = file.read(_BLOCK)
                yield from reader.feed(block)
    except BrokenXml as error:
        raise RecordError(f"{path}: {error}; fetch the file again, as PubMed serves it") from None
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None


def _field(record: _Fields, name: str) -> str:
    value = record.get(name, "")
    return " ".join((value if isinstance(value, str) else " ".join(value)).split())


def _date(fields: _Fields) -> str | None:
    revised = re.fullmatch(r"(\d{4})(\d\d)(\d\d)", _field(fields, "LR"))
    return "-".join(revised.groups()) if revised else iso_date(_field(fields, "DP").split())
