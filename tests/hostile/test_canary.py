"""Secrets are planted wherever the program takes one, and then everything it says is searched for them."""

import asyncio
import base64
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.integration.serve.callers import ApiCaller, api_on, ended
from tests.integration.serve.people import PASSWORD, add_user, browser_of, token_of, with_token

from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.net.keys import IdentityKey, KeyRing, as_base64url, write_keys
from headwater.net.signing import DIRECTORY_PLACE
from headwater.serve.app import described_app

CANARY = "kanarienvogel-7f3a"
# The private half of the key that requests are signed with.
SEED = b"the seed of an identity, planted"
URL = "https://api.example/jobs"
# These wait for news.
LASTING = {"/api/v1/stream"}
COMMANDS = (
    *(
        "status",
        "doctor",
        "problems",
        "config show",
        "config check",
        "sinks list",
        "sinks show hook --check",
        "sinks test hook",
    ),
    *("sources list", "sources show api.example", "sources export --format jsonl", "sources export --format csv"),
    *("crawl run api.example", "crawl logs", f"explain {URL}", "explain api.example", "sources test api.example"),
    *("sources simulate api.example", "admin token list", "admin audit", "takedown list", "metrics", "views list"),
    *("identity show", "identity show --json", "identity init", "verify api.example --at 1795041374", "doctor --json"),
    *("db status", "frontier list", "hosts list", "changes", "nothing-like-it", "sinks add x --type nothing"),
)


@pytest.fixture
def secrets(open_folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings with a secret in each that may hold one."""
    file = open_folder / "secrets.txt"
    file.write_text(f"KEY@https://api.example={CANARY}\n")
    file.chmod(0o600)
    hook = open_folder / "hook.txt"
    hook.write_text("whsec_" + base64.b64encode(CANARY.encode()).decode())
    hook.chmod(0o600)
    write_keys(open_folder / "identity.json", KeyRing((planted_key(),)), is_new=True)
    return {
        "database.url": with_password(database_url),
        "poll.secrets_file": str(file),
        "deliver.elasticsearch_url": f"http://elastic:{CANARY}@127.0.0.1:9",
        "deliver.meili_url": "http://127.0.0.1:9",
        "deliver.meili_key": CANARY,
        "log.level": "debug",
        "log.format": "json",
        "service.mode": "dev",
        "service.data_dir": str(open_folder),
        "identity.sign": "true",
        "web.public_url": "https://crawler.example",
    }


def planted_key() -> IdentityKey:
    private = Ed25519PrivateKey.from_private_bytes(SEED)
    return IdentityKey(private, private.public_key().public_bytes_raw(), datetime(2026, 1, 1, tzinfo=UTC))


def with_password(url: str) -> str:
    """Our own server asks for none, and takes any."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.username}:{CANARY}@{parts.hostname or ''}").geturl()


@pytest.fixture
async def admin(secrets: Mapping[str, str], database: Database) -> AsyncIterator[ApiCaller]:
    await add_user(database)
    token = await token_of(database, Role.ADMIN, "reader")
    async with api_on(secrets["database.url"], secrets) as caller:
        yield with_token(caller, token)


@pytest.mark.long
async def test_no_secret_stands_in_anything_that_is_said(
    admin: ApiCaller, secrets: Mapping[str, str], database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    said = {**await planted(admin, secrets), **await every_answer(admin)}
    said |= {command: await spoken(secrets, command) for command in COMMANDS}
    said["log"] = "".join(capfd.readouterr())
    kept = await database.fetchval("select string_agg(details::text, ' ') from audit_log")
    said |= {place: (await admin.get(place)).body.decode() for place in (DIRECTORY_PLACE, "/crawler")}
    assert '"keys":[{' in said[DIRECTORY_PLACE]
    signs = [CANARY, PASSWORD, admin.headers["authorization"].split()[1], base64.b64encode(CANARY.encode()).decode()]
    signs += [as_base64url(SEED), base64.b64encode(SEED).decode(), SEED.hex(), str(SEED)]
    assert {where: sign for where, text in (said | {"audit": kept}).items() for sign in signs if sign in text} == {}
    assert len(said) > 90


async def planted(admin: ApiCaller, secrets: Mapping[str, str]) -> dict[str, str]:
    """Sources, sinks and logins that use secrets, and requests that name them where they do not belong."""
    auth = {"type": "bearer", "token": "{{SECRET:KEY}}"}
    hint = orjson.dumps({"v": 1, "base_url": "https://api.example", "path": "/jobs", "auth": auth}).decode()
    folder = secrets["service.data_dir"]
    source = {"url": URL, "name": "api.example", "kind": "jobs", "source_type": "api", "parser_hint": hint}
    hook = {"url": "http://127.0.0.1:9/hook", "secret": f"file:{folder}/hook.txt"}
    asked: list[tuple[str, str, Any]] = [
        ("POST", "sources", source),
        ("POST", "sinks", {"name": "hook", "type": "webhook", "options": hook}),
        ("POST", "sinks", {"name": "open", "type": "webhook", "options": {"url": f"http://a:{CANARY}@127.0.0.1:9/"}}),
        ("POST", "sinks", {"name": "open", "type": "webhook", "options": {**hook, "secret": CANARY}}),
        ("POST", "views", {"name": "boats", "query": "boat"}),
        ("POST", "frontier/submit", {"url": URL}),
        ("POST", "users", {"name": "bob", "role": "viewer", "password": f"{CANARY}-password"}),
        ("POST", "login", {"name": "ann", "password": f"{CANARY}-wrong"}),
        ("GET", f"search?token={CANARY}", None),
        ("POST", "takedowns", {"domain_or_url": "gone.example", "reason": "asked"}),
        ("PUT", "hosts/api.example/policy", {"max_pages": 5}),
    ]
    answers = {
        f"{method} {path} {n}": await admin.ask(method, path, body) for n, (method, path, body) in enumerate(asked)
    }
    assert [one.status for one in answers.values()][:2] == [201, 201], [one.body for one in answers.values()]
    browser = await browser_of(admin)
    answers["by a browser"] = await browser.ask("GET", "me")
    answers["run"] = await admin.post(f"sources/{answers['POST sources 0'].json['id']}/run")
    if answers["run"].status == 202:
        await ended(admin, answers["run"])
    return {where: answer.body.decode() for where, answer in answers.items()}


async def every_answer(admin: ApiCaller) -> dict[str, str]:
    """Of each read that the API has, about something that is there where that can be."""
    ids = await places(admin)
    said = {}
    for path, methods in described_app().openapi()["paths"].items():
        if "get" in methods and path not in LASTING:
            needed = [one["name"] for one in methods["get"].get("parameters", []) if one["in"] == "query"]
            found = "&".join(
                f"{name}={quote(ids[name])}" for name in needed if name in ("source", "url", "identity_key")
            )
            filled = path.format_map(
                {**ids, "id": ids[path.split("/{id}")[0].rsplit("/", 1)[-1]] if "{id}" in path else ""}
            )
            answer = await admin.get(f"{filled}?{found}")
            assert answer.status in (200, 304, 404, 422), (filled, answer.status, answer.body[:300])
            said[f"{path} {answer.status}"] = answer.body.decode(errors="replace")
    assert sum(where.endswith(" 200") for where in said) > 45, sorted(said)
    return said


async def places(admin: ApiCaller) -> dict[str, str]:
    source = (await admin.get("sources")).json["sources"][0]
    channel = (await admin.get(f"sources/{source['id']}/channels")).json["channels"][0]
    entry = (await admin.get("frontier")).json["urls"][0]
    nobody = "0" * 64
    return {
        "sources": source["id"],
        "channels": channel["id"],
        "frontier": entry["id"],
        "documents": nobody,
        "jobs": nobody,
        "operations": channel["id"],
        "source": source["id"],
        "url": URL,
        "identity_key": "none",
        "host": "api.example",
        "name": "hook",
        "version": "1",
    }


async def spoken(secrets: Mapping[str, str], command: str) -> str:
    flags = [word for name, value in secrets.items() for word in ("--set", f"{name}={value}")]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "headwater",
        *flags,
        *command.split(),
        stdout=PIPE,
        stderr=PIPE,
        stdin=asyncio.subprocess.DEVNULL,
    )
    out, err = await process.communicate()
    assert b"Traceback" not in err, err
    return (out + err).decode()
