"""Recorded answers of the three services, chosen by what is asked for; nothing is invented.

A page of a recorded list is cut from it, records of several recordings are put side by side.
What was never recorded raises `Unrecorded`, which names it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from service_answers import Answer, Asked, Unrecorded, of_feed, of_json, of_type, of_xml

_BODIES = "service-bodies"
Replay = Callable[[Asked], Answer]


def _words(query: str) -> str:
    """A query without what a client puts around words: fields, quotes, brackets, operators."""
    bare = re.sub(r"\[[^\]]*\]|\b(all|ti|abs):", " ", query)
    bare = re.sub(r"\b(AND|OR)\b", " ", bare)
    return " ".join(re.findall(r"[^\W_]+", bare)).casefold()


def _whole(params: dict[str, str], name: str, default: int) -> int:
    return int(params.get(name) or default)


# ---- arXiv: feeds of one search ("testing", its first 100 entries) and of single ids


def arxiv_replay(test_data: Path) -> Replay:
    """Answers `search_query` "testing" and the recorded ids of `id_list`."""
    files = sorted((test_data / _BODIES / "arxiv").glob("*.json"))
    feeds = {path.name: json.loads(path.read_text()) for path in files}
    listed = next(feed for name, feed in feeds.items() if name.startswith("q_testing_s0_m100"))
    known = {entry_id: entry for feed in feeds.values() for entry_id, entry in _entries(feed)}
    single = {name.split("_s0_")[0][3:].replace("_", "/"): feed for name, feed in feeds.items()}

    def answer(asked: Asked) -> Answer:
        ids = [part for part in asked.params.get("id_list", "").split(",") if part]
        if not ids:
            return _listed_page(listed, asked.params)
        if len(ids) == 1 and ids[0] in single:
            return of_feed(single[ids[0]]["body"], single[ids[0]]["status_code"])
        missing = [one for one in ids if _bare(one) not in known and one not in single]
        if missing or "abc" in ids:
            raise Unrecorded(f"arXiv ids {missing or ids}")
        return _feed(listed, [known[_bare(one)] for one in ids if _bare(one) in known], 0, None)

    return answer


def _bare(arxiv_id: str) -> str:
    return re.sub(r"v\d+$", "", arxiv_id)


def _entries(feed: dict[str, Any]) -> list[tuple[str, str]]:
    found = re.findall(r"  <entry>.*?</entry>\n", feed["body"], re.DOTALL)
    named = [(re.search(r"<id>http://arxiv.org/abs/([^<]+)</id>", entry), entry) for entry in found]
    return [(_bare(match[1]), entry) for match, entry in named if match]


def _listed_page(listed: dict[str, Any], params: dict[str, str]) -> Answer:
    if _words(params.get("search_query", "")) != "testing":
        raise Unrecorded(f"arXiv search {params.get('search_query')!r}")
    start, most = _whole(params, "start", 0), _whole(params, "max_results", 10)
    entries = [entry for _, entry in _entries(listed)]
    if start >= len(entries):
        raise Unrecorded(f"arXiv search 'testing' from {start} on")
    return _feed(listed, entries[start : start + most], start, most)


def _feed(listed: dict[str, Any], entries: list[str], start: int, most: int | None) -> Answer:
    """Recorded entries under the recorded feed's head, whose numbers are of this page."""
    head, _, _ = listed["body"].partition("  <entry>")
    numbers = {"startIndex": start, "itemsPerPage": len(entries) if most is None else most}
    if most is None:
        numbers["totalResults"] = len(entries)
    for name, value in numbers.items():
        head = re.sub(rf"(<opensearch:{name}>)\d+", rf"\g<1>{value}", head)
    return of_feed(head + "".join(entries) + "</feed>\n")


# ---- PubMed: the searches "biopython" (20 of 63 ids) and "abcXYZ" (none), records by PMID


def pubmed_replay(test_data: Path) -> Replay:
    """Answers esearch, efetch (XML, or MEDLINE text for rettype=medline) and esummary."""
    folder = test_data / _BODIES / "pubmed"
    searches = {"biopython": folder / "esearch1.xml", "abcxyz": folder / "esearch8.xml"}
    records = _records(sorted(folder.glob("pubmed*.xml")), "PubmedArticle", r"<PMID[^>]*>(\d+)<")
    summaries = _records([folder / "esummary1.xml"], "DocSum", r"<Id>(\d+)<")
    medline = {
        match[1]: f"\n{text.strip()}\n"
        for path in sorted(folder.glob("pubmed_result*.txt"))
        for text in re.split(r"\n(?=PMID- )", path.read_text())
        if (match := re.search(r"PMID- (\d+)", text))
    }

    def answer(asked: Asked) -> Answer:
        program = asked.path.rpartition("/")[2]
        if program == "esearch.fcgi":
            return _search_page(searches, asked.params)
        ids = re.findall(r"\d+", asked.params.get("id", ""))
        if program == "esummary.fcgi":
            return of_xml(_chosen(summaries, ids, folder / "esummary1.xml", "DocSum"))
        if program != "efetch.fcgi":
            raise Unrecorded(f"PubMed {asked.path!r}")
        if asked.params.get("rettype") == "medline":
            return of_type("text/plain; charset=UTF-8", "".join(_all(medline, ids)))
        return of_xml(_chosen(records, ids, folder / "pubmed1.xml", "PubmedArticle"))

    return answer


def _records(paths: Iterable[Path], tag: str, id_pattern: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        for record in re.findall(rf"<{tag}>.*?</{tag}>", path.read_text(), re.DOTALL):
            match = re.search(id_pattern, record)
            assert match, f"{path.name} has a {tag} without an id"
            found[match[1]] = record
    return found


def _all(records: dict[str, str], ids: list[str]) -> list[str]:
    missing = [one for one in ids if one not in records]
    if missing or not ids:
        raise Unrecorded(f"PubMed records {missing}")
    return [records[one] for one in ids]


def _chosen(records: dict[str, str], ids: list[str], head_of: Path, tag: str) -> str:
    text = head_of.read_text()
    head, tail = text[: text.index(f"<{tag}>")], text[text.rindex(f"</{tag}>") + len(tag) + 3 :]
    return head + "\n".join(_all(records, ids)) + tail


def _search_page(searches: dict[str, Path], params: dict[str, str]) -> Answer:
    path = searches.get(_words(params.get("term", "")))
    if path is None:
        raise Unrecorded(f"PubMed search {params.get('term')!r}")
    body = path.read_text()
    ids = re.findall(r"<Id>\d+</Id>\n", body)
    start, most = _whole(params, "retstart", 0), _whole(params, "retmax", 20)
    if start and start >= len(ids):
        raise Unrecorded(f"PubMed search {params['term']!r} from {start} on")
    page = ids[start : start + most]
    if page != ids:
        body = body.replace("".join(ids), "".join(page))
        body = re.sub(r"<RetMax>\d+", f"<RetMax>{len(page)}", body)
        body = re.sub(r"<RetStart>\d+", f"<RetStart>{start}", body)
    return of_xml(body)


# ---- Wikipedia: 42 calls of the MediaWiki API


def wikipedia_replay(test_data: Path) -> Replay:
    """Answers searches by their words, and properties of pages by titles (or ids) and `prop`."""
    text = (test_data / _BODIES / "wikipedia" / "mediawiki_calls.json").read_text()
    calls = [(_literal(call["params"]), _literal(call["body"])) for call in json.loads(text)]

    def answer(asked: Asked) -> Answer:
        params = asked.params
        if "srsearch" in params:
            return of_json(_search(calls, params))
        if "titles" not in params and "pageids" not in params:
            raise Unrecorded(f"Wikipedia call {params}")
        return of_json({"batchcomplete": "", "query": _pages(calls, params)})

    return answer


_Calls = list[tuple[dict[str, Any], dict[str, Any]]]


def _literal(value: Any) -> Any:
    """What a recording says, be it JSON or a Python literal as text."""
    return ast.literal_eval(value) if isinstance(value, str) else value


def _search(calls: _Calls, params: dict[str, str]) -> dict[str, Any]:
    wanted = _words(params["srsearch"])
    found = [body for call, body in calls if _words(str(call.get("srsearch", ""))) == wanted]
    if not found or not wanted or _whole(params, "sroffset", 0):
        raise Unrecorded(f"Wikipedia search {params['srsearch']!r}, {params.get('sroffset', 0)}")
    body: dict[str, Any] = max(found, key=lambda body: len(body["query"]["search"]))
    hits = body["query"]["search"][: _whole(params, "srlimit", 10)]
    return {**body, "query": {**body["query"], "search": hits}}


def _pages(calls: _Calls, params: dict[str, str]) -> dict[str, Any]:
    """Every page asked for, with every property asked for, each from where it was recorded."""
    by = "titles" if "titles" in params else "pageids"
    query: dict[str, Any] = {"pages": {}}
    for name in params[by].split("|"):
        for prop in params["prop"].split("|"):
            body = _recording(calls, by, name, prop, params)["query"]
            for key, page in body["pages"].items():
                query["pages"].setdefault(key, {}).update(page)
            for renaming in ("normalized", "redirects"):
                for row in body.get(renaming, []):
                    rows = query.setdefault(renaming, [])
                    rows.extend([row] if row not in rows else [])
        _note_renaming(query, name)
    return query


def _note_renaming(query: dict[str, Any], name: str) -> None:
    """MediaWiki says so where it raised a title's first letter."""
    row = {"from": name, "to": name[:1].upper() + name[1:]}
    rows = query.setdefault("normalized", [])
    if row["from"] != row["to"] and row not in rows:
        rows.append(row)
    if not rows:
        del query["normalized"]


def _recording(
    calls: _Calls, by: str, name: str, prop: str, params: dict[str, str]
) -> dict[str, Any]:
    """The body of the call for this page and property that is most like what is asked."""
    names = {name, name[:1].upper() + name[1:]}
    flags = ("exintro", "redirects", "rvparse", "rvprop")

    def likeness(call: dict[str, Any]) -> int:
        return sum((flag in call) == (flag in params) for flag in flags)

    found = [
        (likeness(call), index)
        for index, (call, body) in enumerate(calls)
        if str(call.get(by)) in names
        and "pages" in body.get("query", {})
        and (prop in str(call.get("prop")).split("|") or _is_missing(body))
    ]
    if not found:
        raise Unrecorded(f"Wikipedia {prop!r} of {name!r}")
    return calls[max(found)[1]][1]


def _is_missing(body: dict[str, Any]) -> bool:
    """A page that is not there has no property."""
    return all("missing" in page for page in body["query"]["pages"].values())
