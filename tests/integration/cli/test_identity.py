"""`identity` and `verify` as a person meets them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, Served, assert_a_sentence, served

from headwater.simweb.message import Page

PUBLIC = {"web.public_url": "https://crawler.example"}


@pytest.fixture
def desk(open_folder: Path) -> Desk:
    """Without a database: none of it needs one."""
    return Desk("postgresql://nobody@127.0.0.1:9/none", open_folder, dict(PUBLIC))


def key_file(desk: Desk) -> Path:
    return desk.home / "data" / "identity.json"


def private_part(desk: Desk) -> str:
    return str(json.loads(key_file(desk).read_text())["keys"][0]["d"])


def test_an_identity_is_made_once_shown_and_never_told(desk: Desk) -> None:
    made = desk.says("identity", "init")
    assert made.code == 0
    assert key_file(desk).stat().st_mode & 0o777 == 0o600
    shown, as_json = desk.says("identity", "show"), desk.says("identity", "show", "--json").json
    assert shown.out == made.out
    assert "https://crawler.example/.well-known/http-message-signatures-directory" in shown.out
    assert as_json["keys"][0]["thumbprint"] in shown.out
    assert "set identity.sign = true" in shown.err
    assert as_json["keys"][0]["jwk"].keys() == {"kty", "crv", "x", "kid", "use", "nbf"}
    again = desk.says("identity", "init")
    assert (again.code, "There is an identity already" in again.err) == (2, True)
    said = (
        made,
        shown,
        desk.says("identity", "show", "--json"),
        again,
        desk.says("doctor"),
        desk.says("config", "show"),
    )
    assert not [one for one in said if private_part(desk) in one.out + one.err]


def test_a_key_is_replaced_in_time_or_at_once(desk: Desk) -> None:
    first = desk.says("identity", "init", "--json").json["keys"][0]["thumbprint"]
    keys = desk.says("identity", "rotate", "--json").json["keys"]
    assert [key["state"] for key in keys] == ["signs", "signs later"]
    early = desk.says("identity", "rotate")
    assert early.code == 7
    assert "--at-once" in early.err
    (last,) = desk.says("identity", "rotate", "--at-once", "--json").json["keys"]
    assert last["state"] == "signs"
    assert last["thumbprint"] not in {first, keys[1]["thumbprint"]}


@pytest.mark.parametrize("word", ["show", "rotate"])
def test_without_an_identity_it_is_said_how_to_make_one(desk: Desk, word: str) -> None:
    said = desk.says("identity", word)
    assert_a_sentence(said)
    assert (said.code, "fix: Make one: headwater identity init" in said.err) == (4, True)


def test_a_key_that_others_may_read_is_told_with_the_way_out(desk: Desk) -> None:
    desk.says("identity", "init")
    key_file(desk).chmod(0o644)
    said = desk.says("identity", "show")
    assert_a_sentence(said)
    assert f"fix: Say: chmod 600 {key_file(desk)}" in said.err


def test_without_the_extra_it_is_said_how_to_install_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    said = desk.says("identity", "init")
    assert_a_sentence(said)
    assert (said.code, "pip install 'headwater[identity]'" in said.err) == (5, True)
    assert not key_file(desk).exists()


def test_without_a_public_address_it_is_said_what_is_missing(desk: Desk) -> None:
    desk.settings.clear()
    said = desk.says("identity", "init")
    assert said.code == 0
    assert "Set web.public_url" in said.err
    assert desk.says("identity", "show", "--json").json["directory"] is None


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as serving:
        serving.pages["/"] = Page(b"<title>A</title><p>Hello</p>")
        yield serving


def test_a_site_owner_is_told_whether_it_was_us(database_url: str, open_folder: Path, site: Served) -> None:
    desk = Desk(database_url, open_folder, site.settings)
    assert desk.says("fetch", f"{site.url}/").code == 0
    now = desk.value(
        "select to_char((clock_timestamp() + interval '1 s') at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    )
    found = desk.says("verify", site.place, "--at", now, "--json").json
    assert found["was_us"] == "yes"
    assert {one["kind"] for one in found["requests"]} == {"robots", "test"}
    said = desk.says("verify", site.place, "--at", now, "--address", found["requests"][0]["sent_from"])
    assert (said.code, said.out.splitlines()[0]) == (0, "✓ yes: The fetch log holds such a request.")
    other = desk.says("verify", "b.example", "--at", now)
    assert (other.code, other.out[0]) == (1, "✗")
    assert desk.says("verify", site.place, "--at", "yesterday").code == 2
    assert "When it was seen is not said" in desk.says("verify", site.place).err
    assert "What was seen is not said" in desk.says("verify").err
