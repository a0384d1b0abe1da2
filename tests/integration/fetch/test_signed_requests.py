"""Requests to the simulated web over https, verified by an implementation that is not ours."""

import shutil
import ssl
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path as File
from typing import Any

import pytest
from http_message_signatures import InvalidSignature
from tests.integration.fetch.conftest import Path, SmallSite, opened_path
from tests.integration.net.talk import answer, hangs_up, says, serving
from tests.integration.net.test_tls import CURVE, openssl
from tests.integration.net.test_transport import OpenGate
from tests.signatures import Message, verified

from headwater.actions.identity import make_identity, shown_identity
from headwater.clock import SystemClock
from headwater.errors import NotFound, SettingError
from headwater.fetch.outcomes import Answered, LedAway
from headwater.log import make_logger
from headwater.net.keys import identity_file
from headwater.net.signing import KeyFile, RequestSigner
from headwater.net.transport import Response, TransferLimits
from headwater.services import open_services
from headwater.settings import Given, Settings, load
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.framing import ResetAt
from headwater.simweb.mischief.redirects import Redirect
from headwater.urls.canonical import canonicalise
from headwater.web import open_web

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make certificates with")

TAG = "web-bot-auth"
AGENT = "https://crawler.example"
Tls = tuple[ssl.SSLContext, ssl.SSLContext]


class Witness(SmallSite):
    """Remembers the headers of every request, whatever it answers."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        super().__init__(pages)
        self.asked: list[Message] = []

    def page(self, request: Request, now: datetime) -> Page | None:
        self.asked.append(Message(f"https://{request.host}{request.path}", request.headers, request.method))
        return super().page(request, now)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """A certificate for the simulated hosts and for this machine, which vouches for itself."""
    folder = tmp_path_factory.mktemp("tls")
    names = "subjectAltName=DNS:a.test,DNS:b.test,IP:127.0.0.1"
    files = ("-keyout", str(folder / "key"), "-out", str(folder / "pem"))
    openssl("req", "-x509", *CURVE, "-subj", "/CN=server", "-addext", names, *files)
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.load_cert_chain(folder / "pem", folder / "key")
    return shown, ssl.create_default_context(cafile=str(folder / "pem"))


@pytest.fixture
def flags(open_folder: File) -> dict[str, str]:
    flags = {"service.data_dir": str(open_folder), "web.public_url": f"{AGENT}/", "identity.sign": "true"}
    make_identity(load(Given(flags=flags)).settings, SystemClock())
    return flags


def settings_of(flags: Mapping[str, str]) -> Settings:
    return load(Given(flags=flags)).settings


def keys_of(flags: Mapping[str, str]) -> list[Mapping[str, Any]]:
    return [key.jwk for key in shown_identity(settings_of(flags), SystemClock()).keys]


@pytest.fixture
def witnesses() -> dict[str, Witness]:
    html = Page(b"<html><title>One</title><p>Hello</html>")
    return {name: Witness({"/": html, "/one": html, "/two": html}) for name in ("a.test", "b.test")}


@pytest.fixture
async def path(
    database_url: str, witnesses: dict[str, Witness], flags: dict[str, str], tls: Tls
) -> AsyncIterator[Path]:
    async with opened_path(database_url, witnesses, flags, tls) as opened:
        yield opened


async def test_somebody_else_verifies_every_request(
    path: Path, witnesses: dict[str, Witness], flags: dict[str, str]
) -> None:
    assert isinstance(await path.fetch("https://a.test/one"), Answered)
    asked = witnesses["a.test"].asked
    assert [one.url for one in asked] == ["https://a.test/robots.txt", "https://a.test/one"]
    for one in asked:
        (found,) = verified(keys_of(flags), one, TAG)
        assert found.covered_components['"@authority"'] == "a.test"
        assert found.covered_components['"signature-agent";key="sig1"'] == f'"{AGENT}"'
        assert {"created", "expires", "keyid", "tag"} == found.parameters.keys()
        assert found.parameters["keyid"] == keys_of(flags)[0]["kid"]
        assert one.headers["user-agent"].endswith(f"(+{AGENT}/crawler; mailto:test@headwater.test)")


async def test_a_signature_for_one_host_is_worth_nothing_at_another(
    path: Path, witnesses: dict[str, Witness], flags: dict[str, str]
) -> None:
    await path.fetch("https://a.test/one")
    stolen = Message("https://b.test/one", witnesses["a.test"].asked[-1].headers)
    with pytest.raises(InvalidSignature):
        verified(keys_of(flags), stolen, TAG)


async def test_each_hop_of_a_redirect_is_signed_for_where_it_goes(
    path: Path, witnesses: dict[str, Witness], flags: dict[str, str]
) -> None:
    path.sim.script("a.test", Redirect("https://b.test/two"), "/one")
    led = await path.fetch("https://a.test/one", kind="feed")
    assert isinstance(led, LedAway)
    assert isinstance(await path.fetch(led.to.url), Answered)
    for name, witness in witnesses.items():
        assert {verified(keys_of(flags), one, TAG)[0].covered_components['"@authority"'] for one in witness.asked} == {
            name
        }


async def test_a_request_that_is_tried_again_is_signed_too(
    path: Path, witnesses: dict[str, Witness], flags: dict[str, str]
) -> None:
    path.sim.script("a.test", ResetAt(), "/one", times=1)
    assert isinstance(await path.fetch("https://a.test/one"), Answered)
    tries = [one for one in witnesses["a.test"].asked if one.url.endswith("/one")]
    assert [len(verified(keys_of(flags), one, TAG)) for one in tries] == [1, 1]


async def test_nothing_is_signed_in_the_open(
    database_url: str, witnesses: dict[str, Witness], flags: dict[str, str]
) -> None:
    async with opened_path(database_url, witnesses, flags) as path:
        assert isinstance(await path.fetch("http://a.test/one"), Answered)
    assert [name for one in witnesses["a.test"].asked for name in one.headers if name.startswith("signature")] == []


async def test_nothing_is_signed_unless_it_is_set(
    database_url: str, witnesses: dict[str, Witness], flags: dict[str, str], tls: Tls
) -> None:
    async with opened_path(database_url, witnesses, {**flags, "identity.sign": "false"}, tls) as path:
        assert isinstance(await path.fetch("https://a.test/one"), Answered)
    assert [name for one in witnesses["a.test"].asked for name in one.headers if name.startswith("signature")] == []


async def test_the_older_form_of_the_agent_is_verified_too(
    database_url: str, witnesses: dict[str, Witness], flags: dict[str, str], tls: Tls
) -> None:
    async with opened_path(database_url, witnesses, {**flags, "identity.agent_form": "string"}, tls) as path:
        await path.fetch("https://a.test/one")
    for one in witnesses["a.test"].asked:
        assert one.headers["signature-agent"] == f'"{AGENT}"'
        assert '"signature-agent"' in verified(keys_of(flags), one, TAG)[0].covered_components


async def test_a_header_that_a_person_gave_is_no_signature_of_ours(
    path: Path, witnesses: dict[str, Witness], flags: dict[str, str]
) -> None:
    await path.fetch("https://a.test/one", headers={"Signature": "sig1=:AAAA:", "Authorization": "Bearer secret"})
    (found,) = verified(keys_of(flags), witnesses["a.test"].asked[-1], TAG)
    assert not any("secret" in value for value in found.covered_components.values())


@pytest.mark.parametrize("is_once", [False, True])
async def test_a_question_put_again_on_a_new_connection_has_a_nonce_of_its_own(
    flags: dict[str, str], tls: Tls, is_once: bool
) -> None:
    keys = KeyFile(identity_file(settings_of(flags)), SystemClock(), make_logger("error", "json"))
    signer = RequestSigner(keys, AGENT, is_once=is_once)
    shown, trust = tls
    async with (
        serving(says(answer(b"hi")), hangs_up, says(answer(b"again")), context=shown) as server,
        server.transport(trust=trust, signer=signer) as transport,
    ):
        url = canonicalise(f"https://127.0.0.1:{server.port}/")
        for _ in range(2):
            found = await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits())
            assert isinstance(found, Response)
    heads = [dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:-2]) for head in server.heads]
    found_in = [verified(keys_of(flags), Message(url.url, head), TAG)[0] for head in heads]
    assert [one.covered_components['"@authority"'] for one in found_in] == [f"127.0.0.1:{server.port}"] * 3
    assert len({one.nonce for one in found_in}) == (3 if is_once else 1)


async def test_nothing_is_asked_without_the_key_that_was_asked_for(database_url: str, open_folder: File) -> None:
    base = {"database.url": database_url, "log.level": "error", "service.data_dir": str(open_folder)}
    flags = base | {"web.public_url": AGENT, "identity.sign": "true"}

    async def opened(flags: Mapping[str, str]) -> None:
        async with open_services(load(Given(flags=flags))) as services, open_web(services, "tester"):
            pass

    with pytest.raises(NotFound, match="There is no identity yet"):
        await opened(flags)
    make_identity(settings_of(flags), SystemClock())
    await opened(flags)
    with pytest.raises(SettingError, match="no https address"):
        await opened({**flags, "web.public_url": "http://crawler.example"})
