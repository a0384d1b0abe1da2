"""The demo's two sinks: a JSON Lines folder, and a receiver of webhooks in this process that checks every signature."""

import asyncio
import hmac
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from headwater.deliver.store import list_sinks
from headwater.reports.tour import delays_of_log
from headwater.run.delivering import run_deliverer

if TYPE_CHECKING:
    from headwater.services import Services

# Of the demo only, which talks to itself.
SECRET = "whsec_" + b64encode(b"a demo has nothing to hide").decode()
LARGEST_HEAD_BYTES = 65_536
# So long the sinks may need to come up with the log at the end.
PATIENCE_SECONDS = 10.0


@dataclass(slots=True)
class Receiver:
    """Changes that came, by the ids that webhooks carry: one may come twice, and counts once."""

    changes: dict[str, str] = field(default_factory=dict)
    forged: int = 0

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % self._judge(headers, body))
                await writer.drain()
        writer.close()

    def _judge(self, headers: dict[str, str], body: bytes) -> int:
        """As Standard Webhooks says: HMAC-SHA256 over id, timestamp and body."""
        signed = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
        expected = b64encode(hmac.digest(b64decode(SECRET.removeprefix("whsec_")), signed, sha256)).decode()
        given = [one.partition(",")[2] for one in headers.get("webhook-signature", "").split(" ")]
        if not any(hmac.compare_digest(expected, one) for one in given):
            self.forged += 1
            return 401
        self.changes[headers["webhook-id"]] = orjson.loads(body)["type"]
        return 204


@dataclass(frozen=True, slots=True)
class DemoSinks:
    services: "Services"
    folder: Path
    receiver: Receiver

    async def report(self) -> dict[str, Any]:
        """Once both are up to date, or after a while as they are."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while any(sink.behind for sink in await list_sinks(self.services.database)):
                    await self.services.clock.sleep(0.1)
        delays = await delays_of_log(self.services.database)
        lines = sum(len(file.read_bytes().splitlines()) for file in self.folder.rglob("*.jsonl"))
        return {
            "changes": delays["changes"],
            "log_delay_ms": {"p50": round(delays["p50"] or 0), "p95": round(delays["p95"] or 0)},
            "jsonl_lines": lines,
            "webhooks": len(self.receiver.changes),
            "webhooks_forged": self.receiver.forged,
            "behind": {sink.name: sink.behind for sink in await list_sinks(self.services.database)},
        }


@asynccontextmanager
async def delivering(services: "Services", folder: Path) -> AsyncIterator[DemoSinks]:
    """The role `deliver` beside all others, with two sinks that were added as a person would add them."""
    from headwater.actions.adding_sinks import add_sink

    receiver, stop = Receiver(), asyncio.Event()
    secret, lines = folder / "webhook-secret", folder / "changes"
    secret.touch(0o600)
    secret.write_text(SECRET)
    async with await asyncio.start_server(receiver.receive, "127.0.0.1", 0, limit=LARGEST_HEAD_BYTES) as server:
        port = server.sockets[0].getsockname()[1]
        hook = {"url": f"http://127.0.0.1:{port}/changes", "secret": f"file:{secret}"}
        await add_sink(services, "demo-files", "jsonl", {"folder": str(lines)})
        await add_sink(services, "demo-webhook", "webhook", hook)
        running = asyncio.create_task(run_deliverer(services, "demo-deliver", stop))
        try:
            yield DemoSinks(services, lines, receiver)
        finally:
            stop.set()
            await asyncio.wait([running])
            server.close()
