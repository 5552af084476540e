"""Three tiny services, made up: two pages, two papers, two records, found by any query."""

from __future__ import annotations

from typing import Any

from service_answers import Answer, Asked, Unrecorded, of_feed, of_json, of_xml

# ---- Wikipedia

PAGES = {
    "11": ("Ten metre pole", "The ten metre pole is a pole. It is ten metres tall."),
    "12": ("Pole", "A pole is a long thin thing that stands upright."),
}


def wikipedia_world(asked: Asked) -> Answer:
    """MediaWiki's Action API for two pages: searches, and properties by title, id or search."""
    params = asked.params
    if params.get("action") != "query" or params.get("format") != "json":
        raise Unrecorded(f"action {params.get('action')!r}, format {params.get('format')!r}")
    query: dict[str, Any] = {}
    first = int(params.get("sroffset") or 0)
    hits = [(key, PAGES[key][0]) for key in PAGES][first : first + int(params.get("srlimit", 10))]
    if params.get("list") == "search":
        query["searchinfo"] = {"totalhits": len(PAGES)}
        query["search"] = [{"ns": 0, "title": title, "pageid": int(key)} for key, title in hits]
    pages = _chosen_pages(params, query)
    if pages:
        listed = list(pages.values())
        query["pages"] = listed if params.get("formatversion") == "2" else pages
    return of_json({"batchcomplete": "", "query": query})


def _chosen_pages(params: dict[str, str], query: dict[str, Any]) -> dict[str, dict[str, Any]]:
    if params.get("generator") == "search":
        return {key: {**_page(key), "index": place} for place, key in enumerate(PAGES, start=1)}
    if "pageids" in params:
        return {key: _page(key) for key in params["pageids"].split("|")}
    pages: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(
        params.get("titles", "").split("|") if "titles" in params else ()
    ):
        title = name[:1].upper() + name[1:]
        if title != name:
            query.setdefault("normalized", []).append({"from": name, "to": title})
        key = next((key for key in PAGES if PAGES[key][0] == title), str(-1 - number))
        pages[key] = _page(key) if key in PAGES else {"ns": 0, "title": title, "missing": ""}
    return pages


def _page(key: str) -> dict[str, Any]:
    title, extract = PAGES[key]
    url = f"https://wiki.example/wiki/{title.replace(' ', '_')}"
    revision = 700 + int(key)
    return {
        "pageid": int(key),
        "ns": 0,
        "title": title,
        "extract": extract,
        "fullurl": url,
        "canonicalurl": url,
        "lastrevid": revision,
        "revisions": [{"revid": revision, "parentid": 0}],
    }


# ---- arXiv

PAPERS = {
    "2401.00001": ("On poles", "We measure poles. The tallest is ten metres tall."),
    "2401.00002": ("On poles, again", "We measure the poles again and find the same."),
}
_FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
 xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/x</id><title>arXiv Query</title><updated>2026-01-01T00:00:00Z</updated>
  <opensearch:itemsPerPage>{page}</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>
"""
_ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{name}v1</id><title>{title}</title>
    <updated>2024-01-01T00:00:00Z</updated><published>2024-01-01T00:00:00Z</published>
    <link href="https://arxiv.org/abs/{name}v1" rel="alternate" type="text/html"/>
    <link href="https://arxiv.org/pdf/{name}v1" rel="related" type="application/pdf" title="pdf"/>
    <summary>{summary}</summary><category term="cs.PO" scheme="http://arxiv.org/schemas/atom"/>
    <arxiv:primary_category term="cs.PO"/><author><name>Ada Pole</name></author>
  </entry>
"""


def arxiv_world(asked: Asked) -> Answer:
    """The query API for two papers."""
    params = asked.params
    names = list(PAPERS)
    if params.get("id_list"):
        names = [name for name in PAPERS if name in params["id_list"]]
    first, most = int(params.get("start", 0)), int(params.get("max_results", 10))
    entries = "".join(
        _ENTRY.format(name=name, title=PAPERS[name][0], summary=PAPERS[name][1])
        for name in names[first : first + most]
    )
    return of_feed(_FEED.format(page=most, total=len(names), start=first, entries=entries))


# ---- PubMed

RECORDS = {
    "101": ("Poles in medicine.", "Poles were measured in two wards. They were ten metres tall."),
    "102": ("More poles in medicine.", "Poles were measured in three more wards."),
}
_SET = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
 "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>{records}</PubmedArticleSet>
"""
_RECORD = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="1">{pmid}</PMID>
<DateRevised><Year>2020</Year><Month>01</Month><Day>02</Day></DateRevised>
<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Year>2019</Year>
</PubDate></JournalIssue><Title>Poles</Title></Journal><ArticleTitle>{title}</ArticleTitle>
<Abstract><AbstractText>{text}</AbstractText></Abstract></Article></MedlineCitation>
</PubmedArticle>"""


def pubmed_listing(pmids: list[str], count: int | None = None, start: int = 0) -> Answer:
    """Made up, not recorded: an esearch answer that lists `pmids`."""
    listed = "".join(f"<Id>{pmid}</Id>\n" for pmid in pmids)
    return of_xml(
        '<?xml version="1.0" encoding="UTF-8" ?>\n<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD '
        'esearch 20060628//EN" "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
        f"<eSearchResult><Count>{len(pmids) if count is None else count}</Count>"
        f"<RetMax>{len(pmids)}</RetMax><RetStart>{start}</RetStart><IdList>\n{listed}</IdList>"
        "<TranslationSet/><QueryTranslation>made[All Fields]</QueryTranslation></eSearchResult>\n"
    )


def pubmed_world(asked: Asked) -> Answer:
    """esearch and efetch (XML) for two records."""
    params = asked.params
    if asked.path.endswith("/esearch.fcgi"):
        first, most = int(params.get("retstart", 0)), int(params.get("retmax", 20))
        return pubmed_listing(list(RECORDS)[first : first + most], len(RECORDS), first)
    if not asked.path.endswith("/efetch.fcgi"):
        raise Unrecorded(asked.path)
    records = [
        _RECORD.format(pmid=pmid, title=RECORDS[pmid][0], text=RECORDS[pmid][1])
        for pmid in params["id"].split(",")
        if pmid in RECORDS
    ]
    return of_xml(_SET.format(records="".join(records)))
