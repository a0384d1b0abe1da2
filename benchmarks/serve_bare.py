"""Bare FastAPI routes that return bytes they were told, served as the web role is: the least that an answer costs.

Told in one line of JSON on standard input which text to answer with under which name; prints its address, and ends when
its input ends.
"""

import asyncio
import sys
from collections.abc import Mapping

import uvicorn
from fastapi import FastAPI, Response

from headwater.run.processes import task_given
from headwater.serve.server import address_of, listening, server_config
from headwater.settings.groups import WebSettings


def bare_app(bodies: Mapping[str, bytes]) -> FastAPI:
    app = FastAPI(openapi_url=None)
    for name, body in bodies.items():
        add_route(app, name, body)
    return app


def add_route(app: FastAPI, name: str, body: bytes) -> None:
    @app.get(f"/{name}", name=name)
    async def answer() -> Response:
        return Response(body, media_type="application/json")


async def serve(bodies: Mapping[str, bytes]) -> None:
    with listening(WebSettings(port=0)) as bound:
        server = uvicorn.Server(server_config(bare_app(bodies)))
        print(address_of(bound), flush=True)
        serving = asyncio.create_task(server.serve(sockets=[bound.dup()]))
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        await serving


def main() -> None:
    asyncio.run(serve({name: text.encode() for name, text in task_given()["bodies"].items()}))


if __name__ == "__main__":
    main()
