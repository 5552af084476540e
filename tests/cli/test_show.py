from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from openreward.cli.show import command, find, judgment_lines, print_lines
from openreward.errors import RecordError, UserError
from openreward.types import (
    Evidence,
    Judgment,
    Message,
    Passage,
    Times,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
    Usage,
    Verdict,
    Vote,
)

app = typer.Typer()
app.command()(command)


def passage(text: str = "The Eiffel Tower is in Paris.", title: str = "Eiffel Tower") -> Passage:
    return Passage(
        document_id="9232",
        source="wikipedia",
        title=title,
        text=text,
        start=10,
        end=10 + len(text),
        revision="2024-05-01",
    )


def trajectory(text: str = "I will look it up.", found: Passage | None = None) -> Trajectory:
    found = found or passage()
    unseen = found.model_copy(update={"start": 400, "end": 400 + len(found.text)})
    calls = (
        ToolCall(id="c1", name="wikipedia_search", arguments={"query": "Eiffel Tower"}),
        ToolCall(id="c2", name="arxiv_search", arguments={"query": "towers"}),
        ToolCall(id="c3", name="pubmed_search", arguments={"query": "towers"}),
    )
    results = (
        ToolResult(call_id="c1", status="ok", passages=(found, unseen), seconds=0.25),
        ToolResult(call_id="c2", status="no_result", message="nothing matched", cached=True),
    )
    return Trajectory(
        task="t",
        path="token",
        model="tiny",
        prompt=(Message(role="system", content="Judge."), Message(role="user", content="Where?")),
        turns=(
            Turn(
                text=text,
                tool_calls=calls,
                results=results,
                problems=("a call could not be read",),
                usage=Usage(prompt_tokens=40, completion_tokens=12),
            ),
            Turn(text="See [1]. <answer>A</answer>", forced=True),
        ),
        evidence=(
            Evidence(
                number=1,
                tool="wikipedia_search",
                query="Eiffel Tower",
                passage=found,
                cut=True,
                cited=True,
            ),
        ),
        verdict=Verdict(status="ok", winner=0, forced=True),
        stop_reason="verdict",
        usage=Usage(prompt_tokens=90, completion_tokens=20, cached_tokens=40),
        times=Times(total=1.5, policy=1.2, tools=0.25),
    )


def judgment(id: str = "p1", shown: Trajectory | None = None) -> Judgment:
    shown = shown or trajectory()
    return Judgment(
        id=id,
        status="tie",
        reason="the two orders name different answers",
        label=1,
        notes=("response 0 was cut",),
        votes=(
            Vote(order=(0, 1), vote=0, status="ok", winner=0, trajectory=shown),
            Vote(order=(1, 0), vote=0, status="ok", winner=1, trajectory=shown),
        ),
        usage=Usage(prompt_tokens=180, completion_tokens=40, cached_tokens=80),
        times=Times(total=3.0, policy=2.4, tools=0.5),
    )


def write(path: Path, *lines: Judgment | str) -> Path:
    texts = [line if isinstance(line, str) else line.model_dump_json() for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def show(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_judgment_is_shown_from_the_label_to_the_ledger(tmp_path: Path) -> None:
    output = show(str(write(tmp_path / "out.jsonl", judgment())), "--vote", "2")
    assert output.splitlines() == [
        "p1: tie (label: 1)",
        "  the two orders name different answers",
        "  note: response 0 was cut",
        "",
        "vote 2 (A: responses[1], B: responses[0]): ok, responses[1] is better",
        "  tiny, token path",
        "  system",
        "    Judge.",
        "  user",
        "    Where?",
        "  turn 1 (12 tokens, stop)",
        "    I will look it up.",
        '    call c1: wikipedia_search {"query": "Eiffel Tower"}',
        "      ok, 2 passages in 0.250 s",
        "      [1] Eiffel Tower (wikipedia 9232 at 2024-05-01, 10-39) (shown in part)",
        "          The Eiffel Tower is in Paris.",
        "      (not shown) Eiffel Tower (wikipedia 9232 at 2024-05-01, 400-429)",
        "          The Eiffel Tower is in Paris.",
        '    call c2: arxiv_search {"query": "towers"}',
        "      no_result in 0.000 s, from the cache",
        "        nothing matched",
        '    call c3: pubmed_search {"query": "towers"}',
        "      not run",
        "    told to the model: a call could not be read",
        "  turn 2 (0 tokens, stop, forced form)",
        "    See [1]. <answer>A</answer>",
        "  verdict: ok (forced form), stopped by: verdict",
        "  evidence: 1 passages, 1 cited",
        "    [1] wikipedia_search('Eiffel Tower') -> "
        "Eiffel Tower (wikipedia 9232 at 2024-05-01, 10-39), shown in part, cited",
        "  90 prompt tokens (40 cached), 20 written; 1.50 s (engine 1.20, tools 0.25)",
        "",
        "in all: 180 prompt tokens (80 cached), 40 written; 3.00 s (engine 2.40, tools 0.50)",
    ]


def test_both_votes_are_shown_by_default(tmp_path: Path) -> None:
    output = show(str(write(tmp_path / "out.jsonl", judgment())))
    assert "vote 1 (A: responses[0], B: responses[1]): ok, responses[0] is better" in output
    assert "vote 2 (A: responses[1], B: responses[0]): ok, responses[1] is better" in output


def test_a_passage_found_twice_has_a_number_each_time() -> None:
    found = passage()
    calls = tuple(ToolCall(id=f"c{i}", name="wikipedia_search", arguments={}) for i in (1, 2))
    results = tuple(ToolResult(call_id=c.id, status="ok", passages=(found,)) for c in calls)
    ledger = tuple(
        Evidence(number=n, tool="wikipedia_search", query="q", passage=found) for n in (1, 2)
    )
    turn = Turn(text="", tool_calls=calls, results=results)
    twice = trajectory().model_copy(update={"turns": (turn,), "evidence": ledger})
    lines = [text for text, _ in judgment_lines(judgment(shown=twice), only=1)]
    assert "      [1] Eiffel Tower (wikipedia 9232 at 2024-05-01, 10-39)" in lines
    assert "      [2] Eiffel Tower (wikipedia 9232 at 2024-05-01, 10-39)" in lines


def test_an_error_is_shown_with_its_kind() -> None:
    broken = trajectory().model_copy(
        update={
            "verdict": Verdict(status="error"),
            "stop_reason": "policy_error",
            "error": "no answer within 60 s",
            "fault": "timeout",
        }
    )
    lines = [text for text, _ in judgment_lines(judgment(shown=broken))]
    assert "  verdict: error, stopped by: policy_error" in lines
    assert "    timeout: no answer within 60 s" in lines


def test_a_judgment_without_a_trajectory_says_so() -> None:
    row = Judgment(id="p1", status="error", reason="the answers are empty")
    assert [text for text, _ in judgment_lines(row)][:3] == [
        "p1: error",
        "  the answers are empty",
        "  no trajectory was run",
    ]


def test_untrusted_text_does_not_act_in_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07[red]bold[/red] :smile: \u202e\r[link=http://x]y[/link]"
    row = judgment("i\x1bd", trajectory(evil, passage(evil, evil)))
    output = show(str(write(tmp_path / "out.jsonl", row)))
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(output)
    assert "\\x1b]0;owned\\x07[red]bold[/red] :smile: \\u202e\\x0d[link=http://x]y" in output
    assert not {"\x1b", "\x07", "\u202e"} & set(show(str(tmp_path / "out.jsonl"), "--json"))


def test_the_record_itself_comes_with_json(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", judgment("a"), judgment("b"))
    shown = Judgment.model_validate_json(show(str(path), "--id", "b", "--json"))
    assert shown == judgment("b")


def test_a_row_is_the_number_of_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", judgment("a"), "", "{broken", judgment("b"))
    assert find(path, line=4).id == "b"
    assert find(path, id="b").id == "b"
    assert find(path).id == "a"


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ([], {}, "is empty; expected judgments"),
        ([judgment("a")], {"line": 2}, "has nothing on line 2"),
        ([judgment("a")], {"id": "z"}, "has no judgment with id 'z'; it has 1: 'a'"),
        (["{"], {"line": 1}, "the first: line 1: expected one JSON object, got '{'"),
        (['{"id": "a"}'], {}, "expected judgments .* line 1: field status: expected, but missing"),
        ([judgment("a"), "{"], {"id": "z"}, "and 1 that cannot be read, the first: line 2"),
    ],
)
def test_what_is_not_there_is_named(
    tmp_path: Path, lines: list[Judgment | str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(RecordError, match=message):
        find(write(tmp_path / "out.jsonl", *lines), **options)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        find(tmp_path / "none.jsonl")


def test_a_vote_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", judgment())
    with pytest.raises(UserError, match="--vote 3: judgment 'p1' has 2 votes"):
        show(str(path), "--vote", "3")


def test_json_of_one_vote_has_that_vote(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", judgment())
    shown = Judgment.model_validate_json(show(str(path), "--vote", "2", "--json"))
    assert [vote.order for vote in shown.votes] == [(1, 0)]


def test_id_and_row_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected --id or --row, got both"):
        show(str(tmp_path / "x.jsonl"), "--id", "a", "--row", "1")


def test_piped_output_is_plain_and_unwrapped(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", judgment("p1", trajectory("word " * 100)))
    code = "import sys, typer; from openreward.cli.show import command; typer.run(command)"
    run = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, "COLUMNS": "40"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "    " + "word " * 100 in run.stdout.splitlines()
    assert "\x1b" not in run.stdout


def test_json_is_ascii(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", judgment("p\u202e"))
    output = show(str(path), "--json")
    assert output.isascii()
    assert json.loads(output)["id"] == "p\u202e"


def test_on_a_terminal_lines_wrap_at_their_indent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"TTY_COMPATIBLE": "1", "TERM": "xterm", "COLUMNS": "20"}.items():
        monkeypatch.setenv(name, value)
    print_lines(iter([("one", ""), ("", ""), ("    of words that wrap", "")]))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "one",
        "",
        "    of words that",
        "    wrap",
    ]
