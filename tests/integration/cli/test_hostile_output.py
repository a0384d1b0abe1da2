"""Input 126 on the way through real commands: what sites and people write drives no terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import PLACE, Desk, Served, served

from headwater.simweb.message import Page

ESCAPES = "\x1b]0;owned\x07\x9b2J\u202e\u2028"


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as found:
        found.pages["/robots.txt"] = Page(f"User-agent: *\r\nDisallow: /x # {ESCAPES}\r\n".encode(), "text/plain")
        found.pages["/"] = Page(b"<p>Hello")
        yield found


@pytest.fixture
def desk(database_url: str, open_folder: Path, site: Served) -> Desk:
    return Desk(database_url, open_folder, site.settings)


def assert_tame(text: str) -> None:
    assert not [letter for letter in text if not letter.isprintable() and letter not in "\n\t"]


def test_no_command_lets_a_terminal_be_driven(desk: Desk, site: Served) -> None:
    assert desk.says("fetch", f"{site.url}/").code == 0
    assert "Disallow: /x # \\u001b]0;owned" in desk.says("hosts", "robots", PLACE).out
    commands = [
        ("hosts", "robots", PLACE),
        ("hosts", "robots", PLACE, "--check", f"/x{ESCAPES}"),
        ("hosts", "robots", PLACE, "--json"),
        ("hosts", "robots", f"no{ESCAPES}.example"),
        ("frontier", "add", f"https://a.example/{ESCAPES}"),
        ("frontier", "add", f"https://a.example/{ESCAPES}", "--json"),
        ("explain", f"https://a.example/{ESCAPES}"),
        ("explain", ESCAPES),
        ("fetch", f"{site.url}/{ESCAPES}", "--explain"),
        ("sources", "add", f"{site.url}/{ESCAPES}"),
        ("sources", "add", f"https://b.example/{ESCAPES}", "--no-discover"),
        ("sources", "add", "https://c.example/", "--no-discover", "--name", f"Name {ESCAPES}"),
        ("sources", "list"),
        ("sources", "show", f"{ESCAPES}"),
        (f"no-such-{ESCAPES}",),
        ("frontier", "stats", f"--no-such-{ESCAPES}"),
    ]
    for words in commands:
        said = desk.says(*words)
        assert_tame(said.out + said.err)
