import asyncio
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest
from pydantic import SecretStr
from tests.clocks import ManualClock

from headwater.discover.api.recipe import Auth
from headwater.discover.api.secrets import read_secrets
from headwater.discover.api.tokens import NoToken, Token, Tokens, refusal_in, token_in, token_request
from headwater.errors import UsageError

SECRET = "a:b c&d"
SECRETS = read_secrets(f"S@https://id.test={SECRET}")


def auth(**parts: Any) -> Auth:
    given = {"client_id": "me", "client_secret": "{{SECRET:S}}", "token_url": "https://id.test/token"}
    return Auth.model_validate({"type": "oauth2", **given, **parts})


def form(asked_with: Auth) -> dict[str, list[str]]:
    sent = token_request(asked_with, SECRETS).sent_body
    assert sent is not None
    return parse_qs(sent.decode())


def test_the_client_is_named_in_a_header_by_default() -> None:
    asked = token_request(auth(scope="jobs news"), SECRETS)
    kind, _, credentials = asked.headers["Authorization"].get_secret_value().partition(" ")
    assert (kind, b64decode(credentials)) == ("Basic", b"me:a%3Ab+c%26d")
    assert form(auth(scope="jobs news")) == {"grant_type": ["client_credentials"], "scope": ["jobs news"]}
    assert asked.echoes.are_in(SECRET)
    assert asked.echoes.are_in(credentials)
    assert SECRET not in repr(asked)


def test_the_client_can_be_named_in_the_body() -> None:
    asked = form(auth(client_as="body", audience="https://api.test"))
    assert asked["client_secret"] == [SECRET]
    assert asked["audience"] == ["https://api.test"]
    assert "Authorization" not in token_request(auth(client_as="body"), SECRETS).headers


def test_a_secret_that_is_bound_elsewhere_is_not_sent_to_a_server_of_tokens() -> None:
    with pytest.raises(UsageError, match=r"not sent to https://stranger\.test"):
        token_request(auth(token_url="https://stranger.test/token"), SECRETS)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        ({"access_token": "t", "expires_in": 60}, 60),
        ({"access_token": "t", "expires_in": "60", "token_type": "Bearer"}, 60),
        ({"access_token": "t"}, 300),
        ({"access_token": "t", "expires_in": -1}, 300),
        ({"access_token": "t", "expires_in": "soon"}, 300),
        ({"access_token": "t", "expires_in": 1e99}, 86_400),
    ],
)
def test_a_token_is_read_with_the_time_it_holds(answer: dict[str, Any], seconds: float) -> None:
    found = token_in(orjson.dumps(answer))
    assert isinstance(found, Token)
    assert (found.value.get_secret_value(), found.seconds) == ("t", seconds)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"access_token": 5}',
        b'{"access_token": "a\\r\\nX-Evil: 1"}',
        b'{"access_token": ""}',
        b'{"access_token": "t", "token_type": "mac"}',
        b'{"access_token": "t", "pad": "' + b"x" * 70_000 + b'"}',
    ],
)
def test_what_is_no_token_is_said_without_its_words(answer: bytes) -> None:
    found = token_in(answer)
    assert isinstance(found, NoToken)
    assert "Evil" not in found.why


def test_a_refusal_names_the_code_and_nothing_else_of_the_answer() -> None:
    said = refusal_in(b'{"error": "invalid_client", "error_description": "s3cret"}', 401)
    assert said == "auth.token_url refused the client: HTTP 401, invalid_client"
    assert refusal_in(b'{"error": "Your key is s3cret"}', 400) == "auth.token_url refused the client: HTTP 400"


class Server:
    def __init__(self) -> None:
        self.asked = 0

    async def ask(self) -> Token | str:
        self.asked += 1
        await asyncio.sleep(0)
        return Token(SecretStr(f"t{self.asked}"), 100)


async def test_a_token_is_asked_for_once_and_again_shortly_before_its_end() -> None:
    clock, server = ManualClock(datetime(2026, 1, 1, tzinfo=UTC)), Server()
    tokens = Tokens(clock)
    first, second = await asyncio.gather(*(tokens.token_for(auth(), server.ask) for _ in range(2)))
    assert first is second
    assert (server.asked, tokens.knows(auth())) == (1, True)
    clock.move(timedelta(seconds=69))
    assert await tokens.token_for(auth(), server.ask) is first
    clock.move(timedelta(seconds=2))
    assert await tokens.token_for(auth(), server.ask) is not first
    assert server.asked == 2


async def test_clients_scopes_and_servers_have_tokens_of_their_own() -> None:
    tokens, server = Tokens(ManualClock(datetime(2026, 1, 1, tzinfo=UTC))), Server()
    for one in (auth(), auth(scope="x"), auth(client_id="you"), auth(token_url="https://other.test/")):
        await tokens.token_for(one, server.ask)
    assert server.asked == 4


async def test_a_refused_token_is_dropped_unless_it_was_renewed_meanwhile() -> None:
    tokens, server = Tokens(ManualClock(datetime(2026, 1, 1, tzinfo=UTC))), Server()
    first = await tokens.token_for(auth(), server.ask)
    assert isinstance(first, Token)
    tokens.drop(auth(), first)
    second = await tokens.token_for(auth(), server.ask)
    tokens.drop(auth(), first)
    assert await tokens.token_for(auth(), server.ask) is second
