"""The page of a report: hostile names are inert in every form, and in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openreward.eval.benchmark import GroupScore, Number, Score
from openreward.eval.escaping import in_markdown
from openreward.eval.published import PUBLISHED
from openreward.eval.render_html import render_html
from openreward.eval.render_markdown import render_markdown
from openreward.eval.report import Bias, Costs, JudgeReport, Report
from openreward.eval.run import Plan
from openreward.records import DataFile
from openreward.types import Usage

HOSTILE = '<script>window.hit=1</script><img src=x onerror="window.hit=1">|`*_[x](http://h/)\x1b[2J'
CHROMIUM = Path("/usr/bin/chromium")


def share(value: float | None, n: int = 100) -> Number:
    low = None if value is None else max(0.0, value - 0.1)
    high = None if value is None else min(1.0, value + 0.1)
    return Number(name="accuracy", value=value, n=n, low=low, high=high, rule=f"rule {HOSTILE}")


def judge(name: str, groups: int) -> JudgeReport:
    scored = [
        GroupScore(level="leaf", name=f"{HOSTILE} {number}", score=share(number / groups))
        for number in range(groups)
    ]
    sections = [
        GroupScore(level="section", name=name, score=share(0.5)) for name in ("Chat", "Safety")
    ]
    return JudgeReport(
        name=name,
        kind="pairs",
        config={"model": HOSTILE},
        score=Score(headline=share(0.625), strict=share(0.5), groups=(*sections, *scored)),
        statuses={"ok": 180, "tie": 12, "unparsed": 8},
        missing=3,
        bias=Bias(
            flip_rate=share(0.2),
            first_position=share(0.7),
            longer_right=share(0.8),
            shorter_right=share(None, 0),
        ),
        costs=Costs(judgements=200, calls={"ok": 150}, usage=Usage(prompt_tokens=9), seconds=60),
        predictions="judge.predictions.jsonl",
    )


def report(groups: int = 40) -> Report:
    return Report(
        benchmark="rmb",
        data=DataFile(path=HOSTILE, sha256="0" * 64, bytes=1),
        plan=Plan(principle=HOSTILE, limit=100),
        examples=100,
        partial=f"3 questions have no answer: {HOSTILE}",
        judges=(judge(HOSTILE, groups), judge("the longer answer", groups)),
        versions={"openreward": "0"},
    )


def test_a_report_comes_back_from_json_as_it_was() -> None:
    made = report()
    assert Report.model_validate_json(made.model_dump_json()) == made


def test_a_number_that_cannot_be_computed_is_a_dash() -> None:
    text = render_markdown(report(), "title")
    assert "| the longer answer | 20.00 \\[10.0, 30.0\\] | 70.00 \\[60.0, 80.0\\] | 80.00" in text
    assert text.count("| – |") == 2


def test_markdown_shows_what_is_hostile_and_does_not_obey_it() -> None:
    text = render_markdown(report(), HOSTILE)
    assert "<script>" not in text
    assert "[x](http" not in text
    assert "\x1b" not in text
    assert "\\x1b" in text
    lines = text.splitlines()
    begin = lines.index(next(line for line in lines if line.startswith("| leaf")))
    table = [line for line in lines[begin : begin + 42] if line.startswith("|")]
    borders = {len(re.findall(r"(?<!\\)\|", line)) for line in table}
    assert (len(table), borders) == (42, {5})


def test_a_bare_address_is_no_link_in_markdown() -> None:
    assert in_markdown("https://h/x and www.h.org: 3.5") == r"https\://h/x and www\.h.org: 3.5"


def test_the_page_escapes_what_is_hostile() -> None:
    page = render_html(report(), HOSTILE, PUBLISHED["rmb"])
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;window.hit=1&lt;/script&gt;" in page
    assert "http://h/)" in page  # as text
    assert "\x1b" not in page
    assert "\\x1b[2J" in page


def test_a_name_that_turns_the_text_around_is_written_out() -> None:
    page = render_html(report().model_copy(update={"partial": "\u202eevil\u2066"}), "title")
    assert "\u202e" not in page
    assert "\\u202eevil\\u2066" in page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.is_file():
        pytest.skip(f"no browser at {CHROMIUM}; on Debian: apt-get install chromium")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 400])
def test_a_browser_shows_the_page_and_nothing_in_it_acts(
    browser: Any, tmp_path: Path, scheme: str, width: int
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(report(), f"RMB: {'long' * 90}", PUBLISHED["rmb"]), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
    assert page.evaluate("window.hit") is None
    assert asked == [path.as_uri()]
    assert page.locator(".card b").first.inner_text() == "62.50"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(251, 250, 248)", "dark": "rgb(21, 24, 29)"}[scheme]
    assert page.locator("svg circle").count() == 4 + 2 * 40 + 6  # sections, leaves, bias
    folded = page.locator("details", has_text="By leaf: 40").first
    assert folded.get_attribute("open") is None
    assert page.locator("td", has_text="20.00 [10.0, 30.0]").first.bounding_box()["height"] < 40
    page.close()


def test_a_page_of_nothing_says_so() -> None:
    nothing = report().model_copy(update={"judges": (), "examples": 0, "partial": ""})
    page = render_html(nothing, "RMB")
    assert "0 examples, a sample; orders: both" in page
    assert page.count("<h1>") == 1
    assert 'class="card"' not in page
