import hashlib
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import FetchError, UserError
from openreward.policy.hub import Hub, HubFile, HubUnreachable

DATA = b"GGUF" + bytes(range(256)) * 40
SUM = hashlib.sha256(DATA).hexdigest()


def listing(*names: str) -> dict[str, Any]:
    files = [{"rfilename": n, "size": len(DATA), "lfs": {"sha256": SUM}} for n in names]
    return {"id": "o/n", "siblings": [{"rfilename": "README.md"}, *files]}


def hub_of(serve: Any, reply: Any, *names: str, data: bytes = DATA) -> Any:
    """A hub with one repository, that honours ranges."""

    def route(asked: Any) -> Any:
        if asked.path == "/api/models/o/n?blobs=true":
            return reply(listing(*names))
        if asked.path.startswith("/o/n/resolve/main/"):
            start = asked.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-")
            return reply(data[int(start) :], 206 if int(start) else 200)
        return reply({"error": "Repository not found"}, 404)

    return serve(route)


def quiet(what: str, done: int, total: int) -> None:
    pass


@pytest.mark.parametrize(
    ("names", "asked", "chosen"),
    [
        (["a.gguf"], None, "a.gguf"),
        (["a-q8_0.gguf", "a-Q4_K_M.gguf"], None, "a-Q4_K_M.gguf"),
        (["a-q8_0.gguf", "b.gguf"], None, "a-q8_0.gguf"),
        (["a.gguf", "sub/b.gguf"], "sub/b.gguf", "sub/b.gguf"),
        (["a-q4_k_m-00001-of-00002.gguf", "a-q8_0.gguf"], None, "a-q8_0.gguf"),
    ],
)
def test_a_file_of_a_repository_is_chosen(
    names: list[str], asked: str | None, chosen: str, serve: Any, reply: Any
) -> None:
    hub = Hub(hub_of(serve, reply, *names).url)
    assert hub.find("o/n", asked) == HubFile("o/n", chosen, len(DATA), SUM)


def test_a_choice_that_is_not_clear_lists_the_files(serve: Any, reply: Any) -> None:
    hub = Hub(hub_of(serve, reply, "a.gguf", "b.gguf").url)
    with pytest.raises(UserError, match="o/n:FILE; there are: a.gguf, b.gguf"):
        hub.find("o/n")
    with pytest.raises(UserError, match="has no file 'c.gguf'; its GGUF files: a.gguf, b.gguf"):
        hub.find("o/n", "c.gguf")


def test_an_unknown_repository_is_the_users_matter(serve: Any, reply: Any) -> None:
    with pytest.raises(UserError, match="no public repository 'o/x'.*HF_TOKEN"):
        Hub(hub_of(serve, reply).url).find("o/x")


def test_a_hub_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(HubUnreachable, match="cannot be reached"):
        Hub("http://127.0.0.1:9").find("o/n")


def test_an_offline_hub_is_not_asked(serve: Any, reply: Any) -> None:
    server = hub_of(serve, reply, "a.gguf")
    with pytest.raises(HubUnreachable, match="HF_HUB_OFFLINE is set"):
        Hub(server.url, offline=True).find("o/n")
    assert server.asked == []


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>log in</html>"), (503, b"down")])
def test_what_does_not_answer_like_a_hub_is_unreachable(
    status: int, body: bytes, serve: Any, reply: Any
) -> None:
    server = serve(lambda asked: reply(body, status))
    with pytest.raises(HubUnreachable, match="does not answer like a hub"):
        Hub(server.url).find("o/n")


def test_a_download_has_the_hubs_sum_and_tells_how_far_it_is(
    serve: Any, reply: Any, tmp_path: Path
) -> None:
    server = hub_of(serve, reply, "a.gguf")
    hub = Hub(server.url, token="hf_secret")
    told: list[tuple[str, int, int]] = []
    partial = tmp_path / "p"
    digest = hub.download(hub.find("o/n"), partial, lambda *seen: told.append(seen))
    assert (digest, partial.read_bytes()) == (SUM, DATA)
    assert told[-1] == ("downloading a.gguf", len(DATA), len(DATA))
    assert server.asked[0].headers["authorization"] == "Bearer hf_secret"


def test_a_broken_download_goes_on_where_it_stopped(serve: Any, reply: Any, tmp_path: Path) -> None:
    server = hub_of(serve, reply, "a.gguf")
    partial = tmp_path / "p"
    partial.write_bytes(DATA[:1000])
    assert Hub(server.url).download(HubFile("o/n", "a.gguf", len(DATA), SUM), partial, quiet) == SUM
    assert server.asked[0].headers["range"] == "bytes=1000-"
    assert partial.read_bytes() == DATA


def test_a_wrong_sum_leaves_nothing_behind(serve: Any, reply: Any, tmp_path: Path) -> None:
    server = hub_of(serve, reply, "a.gguf", data=DATA[:-1] + b"x")
    partial = tmp_path / "p"
    with pytest.raises(FetchError, match=f"sha256 {SUM}, got {len(DATA)} with"):
        Hub(server.url).download(HubFile("o/n", "a.gguf", len(DATA), SUM), partial, quiet)
    assert not partial.exists()


def test_a_connection_that_breaks_keeps_what_came(serve: Any, reply: Any, tmp_path: Path) -> None:
    headers = {"Content-Length": str(len(DATA)), "Connection": "close"}
    server = serve(lambda asked: reply(DATA[:5000], 200, headers))
    partial = tmp_path / "p"
    with pytest.raises(FetchError, match="goes on where it stopped"):
        Hub(server.url).download(HubFile("o/n", "a.gguf", len(DATA), SUM), partial, quiet)
    assert partial.read_bytes() == DATA[: partial.stat().st_size]


def test_a_token_does_not_travel_to_another_host(serve: Any, reply: Any, tmp_path: Path) -> None:
    store = serve(lambda asked: reply(DATA))
    target = store.url.replace("127.0.0.1", "localhost") + "/blob"
    server = serve(lambda asked: reply(b"", 302, {"Location": target}))
    hub = Hub(server.url, token="hf_secret")
    assert hub.download(HubFile("o/n", "a.gguf", len(DATA), SUM), tmp_path / "p", quiet) == SUM
    assert "authorization" in server.asked[0].headers
    assert "authorization" not in store.asked[0].headers


@pytest.mark.parametrize("token", ["hf_\x00secret", "hf_ß", "hf_\nsecret"])
def test_a_token_that_no_header_carries_is_refused_without_being_repeated(token: str) -> None:
    with pytest.raises(UserError, match="HF_TOKEN") as caught:
        Hub(token=token)
    assert "secret" not in str(caught.value)


def test_a_line_end_behind_a_token_is_not_part_of_it(serve: Any, reply: Any) -> None:
    server = hub_of(serve, reply, "a.gguf")
    Hub(server.url, token="hf_secret\n").find("o/n")
    assert server.asked[0].headers["authorization"] == "Bearer hf_secret"


@pytest.mark.parametrize("endpoint", ["http://[::1", "http://h:port"])
def test_an_address_that_is_none_is_a_users_error(endpoint: str) -> None:
    with pytest.raises(UserError, match="HF_ENDPOINT"):
        Hub(endpoint)


@pytest.mark.parametrize(
    ("status", "headers"), [(302, {"Location": "/again"}), (200, {"Content-Encoding": "gzip"})]
)
def test_redirects_without_end_and_broken_packing_are_a_failed_fetch(
    serve: Any, reply: Any, tmp_path: Path, status: int, headers: dict[str, str]
) -> None:
    hub = Hub(serve(lambda asked: reply(b"plain", status, headers)).url)
    with pytest.raises(HubUnreachable, match="cannot be reached"):
        hub.find("o/n")
    with pytest.raises(FetchError, match="the download of a.gguf broke"):
        hub.download(HubFile("o/n", "a.gguf", 100, None), tmp_path / "partial", quiet)
