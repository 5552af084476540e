from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from openreward.errors import UserError
from openreward.tools.live_settings import (
    CacheSettings,
    LiveSettings,
    ServiceSettings,
    make_service,
    parse_settings,
    read_settings,
    with_contact,
)
from openreward.tools.mcp_settings import McpServer
from openreward.tools.services import RateLimit, ServiceName

WHO = {"contact": "ada@example.org"}
WHOLE = """
contact = " https://example.org/ada "
budget = "http://10.0.0.1:8765"

[cache]
folder = "/tmp/searches"
max_age = 0.5

[services.wikipedia]
language = "de"

[services.arxiv]
url = "http://127.0.0.1:1/api/query"
interval = 4
hosts = ["arxiv.org"]
timeout = 3.5
tries = 1
patience = 0
max_bytes = 2000

[services.pubmed]
api_key_env = "NCBI"
at_once = 2

[mcp.books]
command = "books"
args = ["--all"]
"""


def read(folder: Path, text: str) -> LiveSettings:
    path = folder / "tools.toml"
    path.write_text(text)
    return read_settings(path)


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    settings = read(tmp_path, WHOLE)
    assert (settings.contact, settings.budget) == (
        "https://example.org/ada",
        "http://10.0.0.1:8765",
    )
    assert settings.cache == CacheSettings(folder=Path("/tmp/searches"), max_age=0.5)
    wikipedia, arxiv = make_service("wikipedia", settings), make_service("arxiv", settings)
    assert (wikipedia.url, wikipedia.language) == ("https://de.wikipedia.org/w/api.php", "de")
    assert arxiv.url == "http://127.0.0.1:1/api/query"
    assert arxiv.limit == RateLimit(interval=4.0, at_once=1)
    assert (arxiv.hosts, arxiv.timeout, arxiv.tries) == (("arxiv.org",), 3.5, 1)
    assert (arxiv.patience, arxiv.max_bytes) == (0.0, 2000)
    assert settings.mcp == {"books": McpServer(command="books", args=("--all",))}
    assert settings.of("pubmed").api_key_env == "NCBI"
    assert make_service("pubmed", settings).limit == RateLimit(interval=0.37, at_once=2)


@pytest.mark.parametrize(
    ("name", "url", "limit"),
    [
        ("wikipedia", "https://en.wikipedia.org/w/api.php", RateLimit(interval=0.0, at_once=1)),
        ("arxiv", "https://export.arxiv.org/api/query", RateLimit(interval=3.0, at_once=1)),
        (
            "pubmed",
            "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
            RateLimit(interval=0.37, at_once=3),
        ),
    ],
)
def test_the_defaults_are_what_the_services_ask_for(
    name: ServiceName, url: str, limit: RateLimit
) -> None:
    service = make_service(name, parse_settings(WHO, "test"))
    assert (service.url, service.limit, service.contact) == (url, limit, "ada@example.org")
    assert (service.language, service.api_key, service.hosts) == ("en", None, ())


def test_a_key_makes_pubmed_faster_and_is_never_shown() -> None:
    service = make_service("pubmed", parse_settings(WHO, "test"), "s3cret")
    assert service.limit.interval == 0.11
    assert service.api_key is not None
    assert service.api_key.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(service) + service.model_dump_json()
    own = parse_settings({**WHO, "services": {"pubmed": {"interval": 1}}}, "test")
    assert make_service("pubmed", own, "s3cret").limit.interval == 1.0


def test_without_a_contact_there_is_no_service() -> None:
    with pytest.raises(UserError, match=r"--contact, \$OPENREWARD_CONTACT, or `contact` in"):
        make_service("arxiv", LiveSettings())


def test_the_cache_can_be_switched_off(tmp_path: Path) -> None:
    assert read(tmp_path, "cache = false").cache is False
    assert read(tmp_path, "").cache == CacheSettings(folder=None, max_age=30.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contcat = 'ada@example.org'", "got 'contcat'; did you mean contact?"),
        ("[service.arxiv]", "got 'service'; did you mean services?"),
        ("[services.arxive]", "got services.'arxive'; did you mean services.arxiv?"),
        ("[services.web]", "got services.'web'; there are: wikipedia, arxiv, pubmed"),
        ("[services.arxiv]\nintervall = 3", "did you mean services.arxiv.interval?"),
        ("[cache]\nmaxage = 3", "did you mean cache.max_age?"),
        ("[services.pubmed]\napi_key = 'x'", "did you mean services.pubmed.api_key_env?"),
        ("[mcp.books]\ncommnad = 'x'", "mcp.books.'commnad'; did you mean command?"),
        ("[mcp.books]", "mcp.books: expected command or url, got neither"),
        ("mcp = 3", "mcp: "),
        ("mcp.books = 3", "mcp.books: "),
        ("contact = 3", "contact: "),
        ("contact = 'me'", "expected a contact like ada@example.org"),
        ('contact = "ada@example.org\\r\\nX: y"', "expected a contact like"),
        ("contact = 'ada@exämple.org'", "expected a contact like"),
        ("cache = true", "cache"),
        ("[cache]\nmax_age = 0", "max_age: "),
        ("[services.arxiv]\ninterval = -1", "services.arxiv.interval: "),
        ("[services.arxiv]\ninterval = inf", "services.arxiv.interval: "),
        ("[services.arxiv]\ntimeout = nan", "services.arxiv.timeout: "),
        ("[services.arxiv]\nurl = 'export.arxiv.org'", "expected an http or https address"),
        ("[services.arxiv]\nurl = 'file:///etc/passwd'", "expected an http or https address"),
        ("[services.arxiv]\nurl = 'http://a:b@c/'", "without user name and password"),
        ("[services.arxiv]\nurl = 'http://c/?q=1'", "without ? and #"),
        ("[services.arxiv]\nurl = 'http://c:99999/'", "expected an http or https address"),
        ("[services.wikipedia]\nlanguage = 'evil.org/'", "services.wikipedia.language: "),
        ("services = 3", "services: "),
        ("services.arxiv = 3", "services.arxiv"),
        ("contact = ", "expected TOML"),
        ("a = " + "[" * 5000, "expected TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as raised:
        read(tmp_path, text)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'tools.toml'}: ")
    assert said in message


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\x00", b"contact = '\xc3'"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tools.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match="expected TOML"):
        read_settings(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(UserError, match="cannot be read: .*; check the path"):
            read_settings(path)


def test_a_contact_given_elsewhere_comes_first_and_is_checked_there() -> None:
    settings = parse_settings(WHO, "test")
    assert with_contact(settings, "bob@example.org", "--contact").contact == "bob@example.org"
    with pytest.raises(UserError, match=r"^--contact: expected a contact like"):
        with_contact(settings, "bob", "--contact")


def test_the_documented_file_can_be_read_and_names_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs" / "SETTINGS.md").read_text("utf-8")
    [block] = re.findall(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    settings = parse_settings(tomllib.loads(block), "docs/SETTINGS.md")
    assert set(settings.mcp) == {"notes", "books"}
    named = set(re.findall(r"^([a-z_]+) = ", block, re.MULTILINE))
    known = [LiveSettings, ServiceSettings, CacheSettings, McpServer]
    expected = {name for model in known for name in model.model_fields}
    assert named == expected - {"services", "mcp"}
    defaults = make_service("wikipedia", LiveSettings(contact="ada@example.org"))
    documented = make_service("wikipedia", settings, "key")
    assert documented.model_copy(update={"api_key": None}) == defaults
