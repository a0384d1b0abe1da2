"""A stand-in for Meilisearch: its documented API as far as the sink uses it, and nothing beside that.

Whatever the documentation does not have (a route, a parameter, a field of a body, a missing Content-Type) is noted in
`undocumented`, and the test that caused it fails. Writes become tasks, which are worked on one after another, later.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
from aiohttp import web

INDEX_NAME = re.compile(r"[A-Za-z0-9_-]{1,400}")
DOCUMENT_ID = re.compile(r"[A-Za-z0-9_-]{1,511}")
COMPARISON = re.compile(r"(\w+) (>=|<=|=) (\d+)")
MOST_FIELDS = 65_535
SETTINGS: dict[str, Any] = {
    "displayedAttributes": ["*"],
    "searchableAttributes": ["*"],
    "filterableAttributes": [],
    "sortableAttributes": [],
    "rankingRules": ["words", "typo", "proximity", "attribute", "sort", "exactness"],
    "stopWords": [],
    "synonyms": {},
    "distinctAttribute": None,
    "proximityPrecision": "byWord",
    "pagination": {"maxTotalHits": 1000},
    "faceting": {"maxValuesPerFacet": 100, "sortFacetValuesBy": {"*": "alpha"}},
}
LISTS = frozenset(
    {"displayedAttributes", "searchableAttributes", "filterableAttributes", "sortableAttributes", "rankingRules"}
)
ERRORS = {
    "bad_request": (400, "invalid_request"),
    "database_size_limit_reached": (500, "internal"),
    "index_not_found": (404, "invalid_request"),
    "index_primary_key_already_exists": (400, "invalid_request"),
    "index_primary_key_multiple_candidates_found": (400, "invalid_request"),
    "index_primary_key_no_candidate_found": (400, "invalid_request"),
    "internal": (500, "internal"),
    "invalid_api_key": (403, "auth"),
    "invalid_document_filter": (400, "invalid_request"),
    "invalid_document_geo_field": (400, "invalid_request"),
    "invalid_document_id": (400, "invalid_request"),
    "invalid_index_uid": (400, "invalid_request"),
    "malformed_payload": (400, "invalid_request"),
    "max_fields_limit_exceeded": (400, "invalid_request"),
    "missing_authorization_header": (401, "auth"),
    "missing_content_type": (415, "invalid_request"),
    "missing_document_id": (400, "invalid_request"),
    "no_space_left_on_device": (422, "system"),
    "payload_too_large": (413, "invalid_request"),
    "task_not_found": (404, "invalid_request"),
    "too_many_search_requests": (503, "system"),
}


class Trouble(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def told(self) -> dict[str, str]:
        link = f"https://docs.meilisearch.com/errors#{self.code}"
        return {"message": str(self), "code": self.code, "type": ERRORS[self.code][1], "link": link}

    def response(self) -> web.Response:
        status = ERRORS[self.code][0]
        headers = {"Retry-After": "10"} if status == 503 else {}
        return web.json_response(self.told, status=status, headers=headers)


def cannot_write() -> Trouble:
    return Trouble(
        "no_space_left_on_device",
        "Meilisearch cannot receive write operations because the limit of the task database has been reached. "
        "Please delete tasks to continue performing write operations.",
    )


@dataclass
class Index:
    uid: str
    primary_key: str | None = None
    settings: dict[str, Any] = field(default_factory=lambda: dict(SETTINGS))
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class Task:
    uid: int
    index: str
    type: str
    deed: Callable[[], None]
    status: str = "enqueued"
    error: dict[str, str] | None = None

    def shown(self) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat()
        return {
            "uid": self.uid,
            "batchUid": None,
            "indexUid": self.index,
            "status": self.status,
            "type": self.type,
            "canceledBy": None,
            "details": {},
            "error": self.error,
            "duration": None,
            "enqueuedAt": now,
            "startedAt": None,
            "finishedAt": None,
        }


@dataclass
class MeilisearchServer:
    """Faults: `is_full`, `held` tasks, `bad_ids`, `lost_answers`, `failing` answers, `payload_bytes`, `restart`."""

    api_key: str = ""
    payload_bytes: int = 100 << 20
    indexes: dict[str, Index] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    undocumented: list[str] = field(default_factory=list)
    # Documents that a task cannot take, by id.
    bad_ids: set[str] = field(default_factory=set)
    is_full: bool = False
    # A task fails with this, whatever is in it.
    task_error: str = ""
    # So many writes are accepted without an answer.
    lost_answers: int = 0
    # So many requests are answered with 503.
    failing: int = 0
    running: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    port: int = 0
    _runner: web.AppRunner | None = None
    _worker: "asyncio.Task[None] | None" = None

    def hold(self) -> None:
        """Tasks stay where they are until `release`."""
        self.running.clear()

    def release(self) -> None:
        self.running.set()

    async def start(self) -> None:
        app = web.Application(client_max_size=1 << 30, middlewares=[self._guarded])
        app.router.add_get("/health", self._health)
        app.router.add_get("/tasks", self._list_tasks)
        app.router.add_get("/tasks/{task}", self._show_task)
        app.router.add_get("/indexes/{index}", self._show_index)
        app.router.add_get("/indexes/{index}/stats", self._stats)
        app.router.add_get("/indexes/{index}/settings", self._show_settings)
        app.router.add_patch("/indexes/{index}/settings", self._change_settings)
        app.router.add_post("/indexes/{index}/documents", self._put_documents)
        app.router.add_post("/indexes/{index}/documents/delete-batch", self._delete_documents)
        app.router.add_post("/indexes/{index}/documents/fetch", self._fetch_documents)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._worker = asyncio.create_task(self._work())

    async def stop(self) -> None:
        assert self._runner
        assert self._worker
        self._worker.cancel()
        with suppress(asyncio.CancelledError):
            await self._worker
        await self._runner.cleanup()

    async def restart(self) -> None:
        """Tasks are kept; one that was being worked on is enqueued again."""
        await self.stop()
        for task in self.tasks:
            task.status = "enqueued" if task.status == "processing" else task.status
        await self.start()

    def documents(self, index: str) -> dict[str, dict[str, Any]]:
        return self.indexes[index].documents

    def add_task(self, index: str) -> Task:
        """Of somebody else, which changes nothing."""
        self.tasks.append(Task(len(self.tasks), index, "documentDeletion", lambda: None))
        return self.tasks[-1]

    async def _work(self) -> None:
        while True:
            await self.running.wait()
            waiting = next((task for task in self.tasks if task.status == "enqueued"), None)
            if waiting is None:
                await asyncio.sleep(0.005)
                continue
            waiting.status = "processing"
            await asyncio.sleep(0.005)
            await self.running.wait()
            try:
                if self.task_error:
                    raise Trouble(self.task_error, "It did not work.")
                waiting.deed()
            except Trouble as trouble:
                waiting.status, waiting.error = "failed", trouble.told
            else:
                waiting.status = "succeeded"

    @web.middleware
    async def _guarded(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        if self.failing:
            self.failing -= 1
            return Trouble("too_many_search_requests", "Too many search requests running at the same time.").response()
        try:
            self._authorise(request)
            response = await handler(request)
        except Trouble as trouble:
            return trouble.response()
        except web.HTTPException:
            self.undocumented.append(f"no such route: {request.method} {request.path_qs}")
            raise
        if response.status == 202 and self.lost_answers:
            self.lost_answers -= 1
            assert request.transport
            request.transport.abort()
        return response

    def _authorise(self, request: web.Request) -> None:
        if not self.api_key or request.path == "/health":
            return
        given = request.headers.get("Authorization")
        if given is None:
            raise Trouble("missing_authorization_header", "The Authorization header is missing.")
        if given != f"Bearer {self.api_key}":
            raise Trouble("invalid_api_key", "The provided API key is invalid.")

    def _parameters(self, request: web.Request, *known: str) -> None:
        for name in request.query.keys() - set(known):
            self.undocumented.append(f"parameter {name} of {request.path}")

    def _index_name(self, request: web.Request) -> str:
        name = request.match_info["index"]
        if not INDEX_NAME.fullmatch(name):
            raise Trouble("invalid_index_uid", f"`{name}` is not a valid index uid.")
        return name

    def _index(self, request: web.Request) -> Index:
        name = self._index_name(request)
        if name not in self.indexes:
            raise Trouble("index_not_found", f"Index `{name}` not found.")
        return self.indexes[name]

    async def _body(self, request: web.Request) -> Any:
        if request.headers.get("Content-Type") != "application/json":
            self.undocumented.append(f"Content-Type of {request.method} {request.path}")
            raise Trouble("missing_content_type", "A Content-Type header is missing.")
        body = await request.read()
        if len(body) > self.payload_bytes:
            raise Trouble("payload_too_large", "The provided payload reached the size limit.")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise Trouble("malformed_payload", f"The `json` payload provided is malformed: {error}") from error

    def _enqueue(self, index: str, kind: str, deed: Callable[[], None]) -> web.Response:
        if self.is_full:
            raise cannot_write()
        task = Task(len(self.tasks), index, kind, deed)
        self.tasks.append(task)
        summary = {"taskUid": task.uid, "indexUid": index, "status": "enqueued", "type": kind}
        return web.json_response(summary | {"enqueuedAt": datetime.now(UTC).isoformat()}, status=202)

    async def _health(self, request: web.Request) -> web.Response:
        self._parameters(request)
        return web.json_response({"status": "available"})

    async def _list_tasks(self, request: web.Request) -> web.Response:
        self._parameters(request, "indexUids", "statuses", "types", "uids", "limit", "from")
        indexes, statuses = (
            set(filter(None, request.query.get(name, "").split(","))) for name in ("indexUids", "statuses")
        )
        if unknown := statuses - {"enqueued", "processing", "succeeded", "failed", "canceled"}:
            self.undocumented.append(f"statuses {unknown}")
        limit, first = int(request.query.get("limit", "20")), int(request.query.get("from", str(len(self.tasks))))
        found = [
            task.shown()
            for task in reversed(self.tasks)
            if task.uid <= first
            and (not indexes or task.index in indexes)
            and (not statuses or task.status in statuses)
        ]
        following = found[limit]["uid"] if len(found) > limit else None
        return web.json_response(
            {"results": found[:limit], "total": len(found), "limit": limit, "from": first, "next": following}
        )

    async def _show_task(self, request: web.Request) -> web.Response:
        self._parameters(request)
        number = int(request.match_info["task"])
        if number >= len(self.tasks):
            raise Trouble("task_not_found", f"Task `{number}` not found.")
        return web.json_response(self.tasks[number].shown())

    async def _show_index(self, request: web.Request) -> web.Response:
        self._parameters(request)
        index = self._index(request)
        now = datetime.now(UTC).isoformat()
        return web.json_response(
            {"uid": index.uid, "createdAt": now, "updatedAt": now, "primaryKey": index.primary_key}
        )

    async def _stats(self, request: web.Request) -> web.Response:
        self._parameters(request)
        count = len(self._index(request).documents)
        return web.json_response({"numberOfDocuments": count, "isIndexing": False, "fieldDistribution": {}})

    async def _show_settings(self, request: web.Request) -> web.Response:
        self._parameters(request)
        return web.json_response(self._index(request).settings)

    async def _change_settings(self, request: web.Request) -> web.Response:
        self._parameters(request)
        name, given = self._index_name(request), await self._body(request)
        for setting, value in given.items():
            is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
            if setting not in SETTINGS or (setting in LISTS and not is_list):
                self.undocumented.append(f"setting {setting}")
                raise Trouble("bad_request", f"Unknown field `{setting}`.")

        def change() -> None:
            self.indexes.setdefault(name, Index(name)).settings.update(given)

        return self._enqueue(name, "settingsUpdate", change)

    async def _put_documents(self, request: web.Request) -> web.Response:
        self._parameters(request, "primaryKey", "csvDelimiter")
        name, given = self._index_name(request), await self._body(request)
        documents = given if isinstance(given, list) else [given]
        if not all(isinstance(one, dict) for one in documents):
            raise Trouble("malformed_payload", "The `json` payload provided is malformed.")
        asked_key = request.query.get("primaryKey")
        return self._enqueue(name, "documentAdditionOrUpdate", lambda: self._put(name, documents, asked_key))

    def _put(self, name: str, documents: list[dict[str, Any]], asked_key: str | None) -> None:
        """All or nothing, as the task that it is."""
        index = self.indexes.setdefault(name, Index(name))
        if asked_key and index.primary_key not in (None, asked_key):
            raise Trouble(
                "index_primary_key_already_exists", f"Index `{name}` already has a primary key: `{index.primary_key}`."
            )
        key = index.primary_key or asked_key or self._inferred_key(name, documents)
        for document in documents:
            self._check_document(document, key)
        fields = {field for document in [*index.documents.values(), *documents] for field in _fields_of(document)}
        if len(fields) > MOST_FIELDS:
            raise Trouble("max_fields_limit_exceeded", "A document cannot contain more than 65,535 fields.")
        index.primary_key = key
        index.documents.update({str(document[key]): document for document in documents})

    def _inferred_key(self, name: str, documents: list[dict[str, Any]]) -> str:
        candidates = [field for field in documents[0] if field.lower().endswith("id")] if documents else []
        if not candidates:
            raise Trouble("index_primary_key_no_candidate_found", f"No primary key for `{name}`.")
        if len(candidates) > 1:
            raise Trouble("index_primary_key_multiple_candidates_found", f"Several primary keys for `{name}`.")
        return candidates[0]

    def _check_document(self, document: dict[str, Any], key: str) -> None:
        if key not in document:
            raise Trouble("missing_document_id", f"Document doesn't have a `{key}` attribute.")
        name = document[key]
        if not isinstance(name, int | str) or not DOCUMENT_ID.fullmatch(str(name)):
            raise Trouble("invalid_document_id", f"Document identifier `{name}` is invalid.")
        if str(name) in self.bad_ids:
            raise Trouble("invalid_document_geo_field", f"The `_geo` field in the document `{name}` is not an object.")

    async def _delete_documents(self, request: web.Request) -> web.Response:
        self._parameters(request)
        name, given = self._index_name(request), await self._body(request)
        if not isinstance(given, list) or not all(isinstance(one, str | int) for one in given):
            self.undocumented.append("body of delete-batch")
            raise Trouble("malformed_payload", "The payload is not a list of identifiers.")

        def delete() -> None:
            if name not in self.indexes:
                raise Trouble("index_not_found", f"Index `{name}` not found.")
            for one in given:
                self.indexes[name].documents.pop(str(one), None)

        return self._enqueue(name, "documentDeletion", delete)

    async def _fetch_documents(self, request: web.Request) -> web.Response:
        self._parameters(request)
        index, asked = self._index(request), await self._body(request)
        for name in asked.keys() - {"offset", "limit", "fields", "filter", "ids", "retrieveVectors"}:
            self.undocumented.append(f"{name} in documents/fetch")
        found = [one for one in index.documents.values() if self._matches(one, asked.get("filter"), index)]
        offset, limit = asked.get("offset", 0), asked.get("limit", 20)
        fields = asked.get("fields")
        shown = [
            {name: value for name, value in one.items() if fields is None or name in fields}
            for one in found[offset : offset + limit]
        ]
        return web.json_response({"results": shown, "offset": offset, "limit": limit, "total": len(found)})

    def _matches(self, document: dict[str, Any], wanted: str | None, index: Index) -> bool:
        for part in (wanted or "").split(" AND ") if wanted else []:
            comparison = COMPARISON.fullmatch(part)
            if comparison is None:
                self.undocumented.append(f"filter {part}")
                raise Trouble("invalid_document_filter", f"Was expecting an operation, found `{part}`.")
            name, sign, number = comparison.groups()
            if name not in index.settings["filterableAttributes"]:
                raise Trouble("invalid_document_filter", f"Attribute `{name}` is not filterable.")
            # As doubles, which is how numbers are compared there; what is no number matches nothing.
            value, against = document.get(name), float(number)
            if not isinstance(value, int | float):
                return False
            if not {">=": value >= against, "<=": value <= against, "=": value == against}[sign]:
                return False
        return True


def _fields_of(value: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, inner in value.items():
        yield before + name
        if isinstance(inner, dict):
            yield from _fields_of(inner, f"{before}{name}.")


@asynccontextmanager
async def meilisearch() -> AsyncIterator[MeilisearchServer]:
    server = MeilisearchServer()
    server.release()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
    assert not server.undocumented, server.undocumented
