"""Requests over TLS: whom we trust, and whom not."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from tests.integration.net.talk import Server, answer, says, serving
from tests.integration.net.test_transport import OpenGate

from headwater.net.problems import FetchProblem, Problem
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.urls.canonical import canonicalise

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make certificates with")

CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1")


def openssl(*words: str) -> None:
    subprocess.run(("openssl", *words), check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority of its own, and what it vouches for: the address 127.0.0.1."""
    folder = tmp_path_factory.mktemp("authority")
    names = ("-subj", "/CN=Authority of a test", "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-x509", *CURVE, *names, "-keyout", str(folder / "ca.key"), "-out", str(folder / "ca.pem"))
    vouched = ("-CA", str(folder / "ca.pem"), "-CAkey", str(folder / "ca.key"), "-subj", "/CN=server")
    for name, alternative in (("right", "IP:127.0.0.1"), ("wrong", "IP:127.0.0.9")):
        out = ("-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem"))
        openssl("req", "-x509", *CURVE, *vouched, "-addext", f"subjectAltName={alternative}", *out)
    return folder


def shown(folder: Path, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


async def asked(transport: Transport, server: Server) -> Response | FetchProblem:
    url = canonicalise(f"https://127.0.0.1:{server.port}/")
    return await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits())


async def test_a_server_that_somebody_trusted_vouches_for_is_asked_and_kept(authority: Path) -> None:
    trust = ssl.create_default_context(cafile=str(authority / "ca.pem"))
    async with (
        serving(says(answer(b"x" * 300_000)), context=shown(authority, "right")) as server,
        server.transport(trust=trust) as transport,
    ):
        for is_reused in (False, True):
            found = await asked(transport, server)
            assert isinstance(found, Response)
            assert (found.body, found.is_reused) == (b"x" * 300_000, is_reused)


@pytest.mark.parametrize(("name", "is_trusted"), [("right", False), ("wrong", True)])
async def test_a_server_nobody_vouches_for_is_told_nothing(authority: Path, name: str, is_trusted: bool) -> None:
    trust = ssl.create_default_context(cafile=str(authority / "ca.pem")) if is_trusted else None
    async with (
        serving(says(answer(b"hi")), context=shown(authority, name)) as server,
        server.transport(trust=trust) as transport,
    ):
        found = await asked(transport, server)
        assert isinstance(found, FetchProblem)
        assert found.kind is Problem.TLS
        assert server.heads == []
