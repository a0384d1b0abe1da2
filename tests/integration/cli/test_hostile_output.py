"""Input 126 on the way through real commands: what sites and people write drives no terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import PLACE, Desk, Served, served

from headwater.simweb.message import Page

ESCAPES = "\x1b]0;owned\x07\x9b2J\u202e\u2028"
SITE = f"http://{PLACE}"


@pytest.fixture
def site(database_url: str, open_folder: Path) -> Iterator[Served]:
    robots = Page(f"User-agent: *\r\nDisallow: /x # {ESCAPES}\r\n".encode(), "text/plain")
    with served(Desk(database_url, open_folder), {"/robots.txt": robots, "/": Page(b"<p>Hello")}) as found:
        yield found


def assert_tame(text: str) -> None:
    assert not [letter for letter in text if not letter.isprintable() and letter not in "\n\t"]


def test_no_command_lets_a_terminal_be_driven(site: Served) -> None:
    desk = site.desk
    desk.says("fetch", f"{SITE}/")
    commands = [
        ("hosts", "robots", PLACE),
        ("hosts", "robots", PLACE, "--check", f"/x{ESCAPES}"),
        ("hosts", "robots", PLACE, "--json"),
        ("hosts", "robots", f"no{ESCAPES}.example"),
        ("frontier", "add", f"https://a.example/{ESCAPES}"),
        ("frontier", "add", f"https://a.example/{ESCAPES}", "--json"),
        ("explain", f"https://a.example/{ESCAPES}"),
        ("explain", ESCAPES),
        ("fetch", f"{SITE}/{ESCAPES}", "--explain"),
        ("sources", "add", f"{SITE}/{ESCAPES}"),
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
