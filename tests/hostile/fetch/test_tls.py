"""Row 72: a certificate nobody vouches for, a handshake that never ends, a port that speaks no TLS at all."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path as File

import pytest
from tests.hostile.fetch.stage import PLAIN, hash_of, staged, word_for
from tests.integration.fetch.conftest import SmallSite

from headwater.simweb.resolver import Answers

ADDRESS = "127.0.0.2"
FLAGS = {"network.allow": "127.0.0.0/8", "fetch.total_timeout": "5s"}


def self_signed(folder: File) -> ssl.SSLContext:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1")
    names = ("-subj", "/CN=tls.test", "-addext", "subjectAltName=DNS:tls.test")
    command = ("openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(certificate))
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


class Counter:
    """Bytes of HTTP that came through."""

    def __init__(self, says: bytes = b"", is_silent: bool = False) -> None:
        self.heard = 0
        self.says = says
        self.is_silent = is_silent
        self.is_over = asyncio.Event()
        self.talks: list[asyncio.Task[object] | None] = []

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.talks.append(asyncio.current_task())
        if self.is_silent:
            await self.is_over.wait()
        else:
            self.heard += len(await reader.read(65_536))
            writer.write(self.says)
        writer.close()


@asynccontextmanager
async def serving(counter: Counter, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    async with await asyncio.start_server(counter.greet, ADDRESS, 0, ssl=context) as server:
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            counter.is_over.set()
            await asyncio.gather(*(talk for talk in counter.talks if talk))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
async def test_tls_that_cannot_be_trusted_is_a_wait_and_nothing_is_said_through_it(
    database_url: str, tmp_path: File
) -> None:
    forged, silent, plain = Counter(), Counter(is_silent=True), Counter(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    async with (
        serving(forged, self_signed(tmp_path)) as forged_port,
        serving(silent) as silent_port,
        serving(plain) as plain_port,
        staged(database_url, {"good.test": SmallSite({"/page": PLAIN})}, FLAGS) as stage,
    ):
        ports = (forged_port, silent_port, plain_port)
        urls = {f"https://tls{port}.test:{port}/page": "wait: robots_unreachable" for port in ports}
        for port in ports:
            stage.path.resolver.script(f"tls{port}.test", Answers(((ADDRESS,),)))
        await stage.submit([*urls, "http://good.test/page"])
        verdicts = await stage.verdicts()
        words = {url: word_for(verdicts.get(hash_of(url))) for url in urls}
        assert words == urls
        assert word_for(verdicts[hash_of("http://good.test/page")]) == "fetched"
        assert forged.heard == 0
        failures = await stage.path.database.fetch("select port, failure from robots where failure is not null")
        why = {row["port"]: row["failure"].partition(":")[0] for row in failures}
        assert why == {forged_port: "tls", silent_port: "timeout", plain_port: "tls"}
