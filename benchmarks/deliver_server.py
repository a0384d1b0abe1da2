"""A stand-in for a search server and for a receiver of webhooks: it parses every line and answers for every item.

A bare protocol in a process of its own, so that it leaves the cores to the sides that are measured. Prints its port;
at the end of its input it prints how many items it took.
"""

import asyncio
import sys
from typing import Any

import orjson

ABOUT: dict[str, object] = {
    "name": "stand-in",
    "cluster_name": "benchmark",
    "version": {"number": "8.19.0", "build_flavor": "default", "lucene_version": "9.12.0"},
    "tagline": "You Know, for Search",
}
# The official client talks to nobody who does not say this.
PRODUCT = b"x-elastic-product: Elasticsearch\r\n"


class Counter:
    items = 0
    hooks = 0


# Mappings of indexes and templates that were made, by name: a server without them would be one that lost everything.
MADE: dict[str, dict[str, Any]] = {}


class Server(asyncio.Protocol):
    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end]
            length = _length(head)
            if len(self._received) < end + 4 + length:
                return
            body, self._received = self._received[end + 4 : end + 4 + length], self._received[end + 4 + length :]
            method, _, target = head.partition(b" HTTP/")[0].partition(b" ")
            self._answer(method, target, body)

    def _answer(self, method: bytes, target: bytes, body: bytes) -> None:
        answer: dict[str, object]
        if b"_bulk" in target:
            answer = _bulk(body)
        elif target.startswith(b"/hook"):
            orjson.loads(body)
            Counter.hooks += 1
            answer = {}
        elif target == b"/":
            answer = ABOUT
        elif method == b"GET":
            answer = _made(target.partition(b"?")[0].decode())
        else:
            MADE[target.partition(b"?")[0].decode()] = orjson.loads(body)
            answer = {"acknowledged": True}
        written = b"" if method == b"HEAD" else orjson.dumps(answer)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n" + PRODUCT
        self._transport.write(head + b"content-length: %d\r\n\r\n" % len(written) + written)


def _made(path: str) -> dict[str, object]:
    if path.startswith("/_index_template/"):
        found = [{"name": name.rpartition("/")[2], "index_template": MADE[name]} for name in MADE if name == path]
        return {"index_templates": found}
    return {name[1:]: MADE[name] for name in MADE if name == path}


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def _bulk(body: bytes) -> dict[str, object]:
    lines = iter(body.split(b"\n"))
    items = []
    for line in lines:
        if not line:
            continue
        [(operation, about)] = orjson.loads(line).items()
        if operation != "delete":
            orjson.loads(next(lines))
        items.append(
            {operation: {"_index": about.get("_index", ""), "_id": about["_id"], "status": 201, "_version": 1}}
        )
    Counter.items += len(items)
    return {"took": 1, "errors": False, "items": items}


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    sys.stdout.write(orjson.dumps({"items": Counter.items, "hooks": Counter.hooks}).decode() + "\n")


if __name__ == "__main__":
    asyncio.run(serve())
