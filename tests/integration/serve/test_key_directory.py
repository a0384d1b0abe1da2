"""The directory of keys as verifiers read it, and as those read it who want something else."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.integration.serve.callers import ApiCaller, api_on
from tests.signatures import verified_answer

from headwater.actions.identity import make_identity, rotate_identity
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.net.keys import identity_file
from headwater.settings import Given, Settings, load

PLACE = "/.well-known/http-message-signatures-directory"
KIND = "application/http-message-signatures-directory+json"


@pytest.fixture
def flags(open_folder: Path) -> dict[str, str]:
    return {
        "service.data_dir": str(open_folder),
        "web.public_url": "https://crawler.example",
        "identity.sign": "true",
        "network.egress_addresses": "203.0.113.0/24",
    }


def settings_of(flags: dict[str, str]) -> Settings:
    return load(Given(flags=flags)).settings


async def test_a_verifier_finds_the_keys_with_their_proofs(
    database_url: str, database: Database, flags: dict[str, str]
) -> None:
    make_identity(settings_of(flags), SystemClock())
    rotate_identity(settings_of(flags), SystemClock())
    async with api_on(database_url, flags) as api:
        found = await api.get(PLACE, accept_encoding="gzip, br", accept=KIND)
        page = await api.get("/crawler")
    assert (found.status, found.headers["content-type"]) == (200, KIND)
    assert found.headers["cache-control"] == "public, max-age=3600"
    keys = found.json["keys"]
    assert len(verified_answer(keys, "crawler.example", found.headers, found.body)) == len(keys) == 2
    assert PLACE.encode() in page.body
    assert b"203.0.113.0/24" in page.body
    assert b"https://crawler.example/crawler" in page.body


async def test_every_name_by_which_we_are_called_gets_the_proof_for_the_public_one(
    database_url: str, database: Database, flags: dict[str, str]
) -> None:
    make_identity(settings_of(flags), SystemClock())
    async with api_on(database_url, flags) as api:
        for host, status in (("crawler.example", 200), ("localhost", 200), ("thief.example", 421)):
            found = await api.get(PLACE, host=host)
            assert found.status == status
            if status == 200:
                assert verified_answer(found.json["keys"], "crawler.example", found.headers, found.body)
            else:
                assert "signature" not in found.headers


@pytest.mark.parametrize("without", ["key", "address", "rights to read"])
async def test_where_there_is_nothing_to_publish_there_is_nothing(
    database_url: str, database: Database, flags: dict[str, str], without: str
) -> None:
    if without != "key":
        make_identity(settings_of(flags), SystemClock())
    if without == "rights to read":
        identity_file(settings_of(flags)).chmod(0o644)
    if without == "address":
        flags["web.public_url"] = ""
    async with api_on(database_url, flags) as api:
        found, page = await api.get(PLACE), await api.get("/crawler")
    assert (found.status, found.body) == (404, b"There are no keys here.\n")
    assert page.status == 200
    assert PLACE.encode() not in page.body


async def test_it_is_public_where_everything_else_asks_for_a_login(
    database_url: str, database: Database, flags: dict[str, str]
) -> None:
    make_identity(settings_of(flags), SystemClock())
    async with api_on(database_url, {**flags, "web.login": "always"}) as api:
        assert (await api.get("sources")).status == 401
        assert (await api.get(PLACE)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nobody_changes_it(api: ApiCaller, method: str) -> None:
    assert (await api.ask(method, PLACE, b"{}" * 1000)).status in (403, 404, 405, 415)


async def test_a_crowd_costs_one_signature(database_url: str, database: Database, flags: dict[str, str]) -> None:
    make_identity(settings_of(flags), SystemClock())
    async with api_on(database_url, flags) as api:
        answers = await asyncio.gather(*(api.get(f"{PLACE}") for _ in range(20)))
    assert {one.status for one in answers} == {200}
    assert len({one.headers["signature"] for one in answers}) == 1


@pytest.mark.parametrize(
    "target",
    [
        f"{PLACE}/",
        f"{PLACE}/..%2fidentity.json",
        f"{PLACE}?name=../../identity.json",
        "/.well-known/../identity.json",
        f"{PLACE}%00",
    ],
)
async def test_no_spelling_of_it_shows_the_file(
    database_url: str, database: Database, flags: dict[str, str], target: str
) -> None:
    make_identity(settings_of(flags), SystemClock())
    private = identity_file(settings_of(flags)).read_text()
    secret = private.split('"d": "')[1][:43]
    async with api_on(database_url, flags) as api:
        address = urlsplit(api.address)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        said = await reader.read()
        writer.close()
    assert b"HTTP/1.1" in said
    assert secret.encode() not in said
