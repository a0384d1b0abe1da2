"""The sink for Elasticsearch 8 and 9 and OpenSearch 2 and 3, by their common bulk interface.

No client of a vendor: theirs refuse each other's servers and older ones of their own.
"""

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, Self

import orjson
from pydantic import Field, model_validator

from headwater.deliver.http import SinkAnswer, SinkClient, Unreachable, in_path
from headwater.deliver.payload import in_parts
from headwater.deliver.records import Record
from headwater.deliver.secrets import SecretName, ServerAddress, comparable_address
from headwater.deliver.sink import (
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    HeldRecord,
    KeyRange,
    LeaseEnded,
    RecordRefused,
    Sink,
    SinkContext,
    SinkDown,
    SinkHome,
    SinkKind,
    SinkOptions,
    Upsert,
)
from headwater.deliver.sinks.bulk import (
    ItemAnswer,
    Operation,
    item_answers,
    operation,
    outcome_of,
    words_of,
)
from headwater.deliver.sinks.layouts import Documents, Layout, RawContent, SearchIndexes, differences
from headwater.net.caching import retry_after

# Of a path with names of indexes: servers take 4 kB in the first line of a request.
LONGEST_NAMES = 3_000
PAGE = 5_000
# A server that waits longer than we do for a shard would answer nobody.
PATIENCE = "timeout=10s"
OUR_ID = re.compile(r"[0-9a-f]{64}")
ALREADY_EXISTS = "resource_already_exists_exception"
BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_LARGE, UNPROCESSABLE = 400, 401, 403, 404, 413, 422
# Of a whole request: one of its records is to blame, and halves show which.
BLAMES_A_RECORD = frozenset({BAD_REQUEST, TOO_LARGE, UNPROCESSABLE})

# Differences that were told by this process: a sink is made anew for each lease, and nobody needs them every second.
_told: set[tuple[str, str]] = set()


class ElasticsearchOptions(SinkOptions):
    url: ServerAddress = Field(
        description="Address of the server, such as http://localhost:9200, or env:NAME or file:/path where it stands."
    )
    layout: Literal["raw_content", "documents", "search"] = Field(
        default="raw_content",
        description="raw_content: an index per source for classifiers, documents only. documents: an index and alias "
        "per kind, with all fields and vacancies too. search: an index per kind and language, for the searches of "
        "Headwater itself.",
    )
    api_key: SecretName = Field(default="", description="An encoded API key, as env:NAME or file:/path.")
    username: str = Field(default="", description="Instead of an API key, with a password.")
    password: SecretName = Field(default="", description="As env:NAME or file:/path.")
    index_prefix: str = Field(
        default="headwater",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$",
        description="Before the names of indexes in the layouts documents and search: headwater_documents, "
        "headwater_search_documents_english.",
    )
    shards: int = Field(default=1, ge=1, le=1_000, description="Shards of an index that is made, in the layout search.")
    replicas: int = Field(
        default=0, ge=0, le=10, description="Copies of each shard of an index that is made, in the layout search."
    )
    raw_html: bool | None = Field(
        default=None,
        description="Whether the raw page is sent while it is kept; unless said, in the layout raw_content.",
    )
    request_bytes: int = Field(
        default=5_000_000, ge=10_000, le=100_000_000, description="A larger batch is sent in several requests."
    )

    @model_validator(mode="after")
    def _has_one_way_in(self) -> Self:
        if bool(self.username) != bool(self.password):
            raise ValueError("username and password belong together")
        if self.api_key and self.username:
            raise ValueError("give an API key, or a username and password")
        return self

    @property
    def sends_html(self) -> bool:
        return self.layout == RawContent.name if self.raw_html is None else self.raw_html


class ElasticsearchSink:
    """`send` is the function to read first."""

    def __init__(self, options: ElasticsearchOptions, context: SinkContext) -> None:
        self.layout = layout_of(options)
        self._context = context
        self._request_bytes = options.request_bytes
        self._client = _client(options, context)
        self._ready: set[str] = set()

    def place_of(self, record: Record) -> str:
        return self.layout.place_of(record)

    async def prepare(self, fence: Fence) -> None:
        """The templates are seen to; indexes are made when their first record comes."""
        templates = self.layout.templates()
        answer = await self.ask("GET", f"/_index_template/{self.layout.template_names}", fence=fence)
        if answer.status == FORBIDDEN:
            self._tell("template_not_readable", self.layout.template_names, error=_words(answer))
            return
        found = {} if answer.status == NOT_FOUND else self._templates_in(self.read(answer))
        for name, template in templates.items():
            if name in found:
                self._compare(name, template["template"]["mappings"], found[name])
            else:
                await self._write_template(name, template, fence)

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        outcomes: dict[int, DeliveryOutcome] = {}
        try:
            unmade = await self._open_places(batch, fence)
            operations = self._operations(batch, unmade, outcomes, fence.external_version)
            for request in in_parts(operations, lambda one: len(one.lines), self._request_bytes):
                await self._send_request(request, outcomes, fence)
        except SinkDown as down:
            down.outcomes = _first_of(outcomes, len(batch))
            raise
        except LeaseEnded as ended:
            if not (first := _first_of(outcomes, len(batch))):
                raise
            # Noted while the lease still holds: a batch that takes longer than a lease would else begin anew forever.
            raise SinkDown("The server took the batch so slowly that its rest waits.", outcomes=first) from ended
        return [outcomes[number] for number in range(len(batch))]

    async def missing_places(self, places: Sequence[str], fence: Fence) -> Sequence[str]:
        found = await self._mappings_of(places, fence)
        return [place for place in places if place not in found]

    async def state_of(self, wanted: KeyRange) -> Sequence[HeldRecord]:
        indexes = self.layout.searched(wanted.kind)
        if indexes is None:
            return []
        query = {"range": {"id": {"gte": wanted.first, "lte": wanted.last}}}
        held = [self.layout.held_record(hit) async for hit in self._hits_by_id(indexes, query)]
        # Others write under ids of other forms, and the field may say another id than the document's own.
        return [one for one in held if wanted.first <= one.id <= wanted.last and OUR_ID.fullmatch(one.id)]

    async def close(self) -> None:
        """The connection is the context's."""

    async def test(self, fence: Fence) -> str:
        about = self.read(await self.ask("GET", "/", fence=fence))
        version = about.get("version")
        if not isinstance(version, Mapping) or not {"number"} <= version.keys() or "cluster_name" not in about:
            raise _other_server(self._client.address)
        product = "OpenSearch" if version.get("distribution") == "opensearch" else "Elasticsearch"
        return (
            f"{product} {version['number']}, cluster '{about['cluster_name']}', answers at {self._client.address}; "
            f"layout {self.layout.name}."
        )

    async def cluster_id(self, fence: Fence) -> str | None:
        """None while the cluster has not been formed."""
        found = self.read(await self.ask("GET", "/", fence=fence)).get("cluster_uuid")
        return None if found in (None, "", "_na_") else str(found)

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        fence: Fence | None = None,
        content_type: str = "application/json",
    ) -> SinkAnswer:
        if fence:
            fence.require(self._client.timeout)
        headers = {"Content-Type": content_type} if body is not None else {}
        return await self._client.request(method, path, body, headers)

    def read(self, answer: SinkAnswer) -> dict[str, Any]:
        """Raises SinkDown for all but success."""
        if answer.is_success:
            return _object_in(answer)
        fix = {
            UNAUTHORIZED: "See to the options api_key, or username and password.",
            FORBIDDEN: "Give this user the right to create, write and read its indexes.",
        }.get(answer.status, "")
        wait = retry_after(answer.headers.get("Retry-After", ""), self._context.clock.now())
        raise SinkDown(f"{self._client.address} answered {answer.status}: {_words(answer)}", fix=fix, retry_after=wait)

    async def _open_places(self, batch: Sequence[Delivery], fence: Fence) -> dict[str, DeliveryOutcome]:
        """Makes the indexes that are missing. What is returned are outcomes for places that cannot be written to."""
        filled = {one.place for one in batch if isinstance(one, Upsert)}
        unknown = sorted({one.place for one in batch} - self._ready)
        found = await self._mappings_of(unknown, fence)
        unmade: dict[str, DeliveryOutcome] = {}
        for place in unknown:
            if place in found:
                self._accept(place, found[place])
            elif place in filled:
                if refused := await self._make_index(place, fence):
                    unmade[place] = refused
            else:
                # A versioned deletion would make the index in order to remember it.
                unmade[place] = Accepted()
        return unmade

    async def _mappings_of(self, places: Sequence[str], fence: Fence) -> dict[str, Mapping[str, Any]]:
        """By index and by alias; those that are missing are missing."""
        found: dict[str, Mapping[str, Any]] = {}
        for names in _in_paths(places):
            path = f"/{names}?ignore_unavailable=true&filter_path=*.aliases,*.mappings"
            answer = await self.ask("GET", path, fence=fence)
            if answer.status == NOT_FOUND:
                continue
            for index, about in self.read(answer).items():
                for name in (index, *about.get("aliases", ())):
                    found[name] = about.get("mappings", {})
        return found

    async def _make_index(self, place: str, fence: Fence) -> RecordRefused | None:
        await fence.note_missing(place)
        index = self.layout.index_at(place)
        path = f"/{in_path(index.name)}?{PATIENCE}"
        answer = await self.ask("PUT", path, orjson.dumps(index.body), fence=fence)
        if answer.status == BAD_REQUEST and _error(answer).get("type") == ALREADY_EXISTS:
            # Another process was first.
            found = await self._mappings_of([place], fence)
            if place not in found:
                raise SinkDown(
                    f"The index '{index.name}' exists without its alias '{place}'.",
                    fix="Give it the alias, or delete it and rebuild the sink.",
                )
            self._accept(place, found[place])
            return None
        if answer.status == BAD_REQUEST:
            # Of this index alone, such as one shard more than the cluster allows: other sources go on.
            return RecordRefused(f"The index '{index.name}' cannot be made: {_words(answer)}")
        self.read(answer)
        self._ready.add(place)
        return None

    def _accept(self, place: str, mapping: Mapping[str, Any]) -> None:
        self._ready.add(place)
        ours = self.layout.mapping_at(place)
        if ours is not None:
            self._compare(place, ours, mapping)

    def _compare(self, name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
        """Others may have reasons for a mapping of their own: it is left as it is."""
        if other := list(differences(ours, theirs)):
            fix = "Records that do not fit are refused one by one; delete it to have it made anew."
            self._tell("mapping_differs", name, fields=", ".join(other[:10]), count=len(other), fix=fix)

    def _tell(self, event: str, name: str, **fields: Any) -> None:
        if (self._client.address, name) not in _told:
            _told.add((self._client.address, name))
            self._context.log.warning(event, sink=self._context.name, name=name, **fields)

    async def _write_template(self, name: str, template: Mapping[str, Any], fence: Fence) -> None:
        """Indexes are made with all they need: without a template only one that is deleted under us would lack it."""
        path = f"/_index_template/{in_path(name)}?create=true"
        answer = await self.ask("PUT", path, orjson.dumps(template), fence=fence)
        if answer.status in (BAD_REQUEST, FORBIDDEN):
            self._tell("template_not_written", name, error=_words(answer))
        else:
            self.read(answer)

    def _operations(
        self,
        batch: Sequence[Delivery],
        unmade: Mapping[str, DeliveryOutcome],
        outcomes: dict[int, DeliveryOutcome],
        version: int,
    ) -> list[Operation]:
        """Of what can be sent; what becomes of the others is known already."""
        made = []
        for number, delivery in enumerate(batch):
            if delivery.place in unmade:
                outcomes[number] = unmade[delivery.place]
                continue
            document = self.layout.document_of(delivery.record) if isinstance(delivery, Upsert) else None
            try:
                made.append(operation(number, delivery, document, version))
            except TypeError as error:
                outcomes[number] = RecordRefused(f"It cannot be written as JSON: {error}", is_final=True)
        return made

    async def _send_request(
        self, request: Sequence[Operation], outcomes: dict[int, DeliveryOutcome], fence: Fence
    ) -> None:
        body = b"".join(one.lines for one in request)
        path = f"/_bulk?{PATIENCE}&filter_path=items.*.status,items.*.error"
        answer = await self.ask("POST", path, body, fence=fence, content_type="application/x-ndjson")
        if answer.status in BLAMES_A_RECORD:
            await self._send_halves(request, answer, outcomes, fence)
            return
        items = self._items(self.read(answer), len(request))
        if all(item.is_too_many for item in items):
            # To count it against each record would park the whole archive while a disk is full.
            raise SinkDown(f"{self._client.address} takes no record now: {words_of(items[0].error)}")
        for one, item in zip(request, items, strict=True):
            outcomes[one.number] = outcome_of(one.delivery, item, fence.external_version)
            if item.lacks_index:
                self._ready.discard(one.delivery.place)

    def _templates_in(self, answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Mappings by the name of the template."""
        try:
            return {
                one["name"]: one["index_template"].get("template", {}).get("mappings", {})
                for one in answer["index_templates"]
            }
        except (LookupError, TypeError, AttributeError) as error:
            raise _other_server(self._client.address) from error

    def _items(self, answer: Mapping[str, Any], count: int) -> list[ItemAnswer]:
        try:
            items = item_answers(answer)
        except ValueError as error:
            raise _other_server(self._client.address) from error
        if len(items) != count:
            raise SinkDown(f"{self._client.address} did not say of each record what became of it.")
        return items

    async def _send_halves(
        self, request: Sequence[Operation], answer: SinkAnswer, outcomes: dict[int, DeliveryOutcome], fence: Fence
    ) -> None:
        if len(request) == 1:
            outcomes[request[0].number] = RecordRefused(f"{answer.status}: {_words(answer)}")
            return
        middle = len(request) // 2
        await self._send_request(request[:middle], outcomes, fence)
        await self._send_request(request[middle:], outcomes, fence)

    async def _hits_by_id(self, indexes: str, query: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Page by page after the last id: a scroll would hold a context open in each of thousands of indexes."""
        everywhere = "ignore_unavailable=true&allow_no_indices=true"
        self.read(await self.ask("POST", f"/{indexes}/_refresh?{everywhere}"))
        body: dict[str, Any] = {
            "size": PAGE,
            "query": query,
            "sort": [{"id": {"order": "asc", "unmapped_type": "keyword"}}, {"_index": "asc"}],
            "_source": self.layout.reads,
            "version": True,
            "track_total_hits": False,
        }
        path = f"/{indexes}/_search?{everywhere}&allow_partial_search_results=false"
        while True:
            hits = self.read(await self.ask("POST", path, orjson.dumps(body)))["hits"]["hits"]
            for hit in hits:
                yield hit
            if len(hits) < PAGE:
                return
            body["search_after"] = hits[-1]["sort"]


def layout_of(options: ElasticsearchOptions) -> Layout:
    match options.layout:
        case RawContent.name:
            return RawContent()
        case SearchIndexes.name:
            return SearchIndexes(options.index_prefix, options.shards, options.replicas)
    return Documents(options.index_prefix)


def _client(options: ElasticsearchOptions, context: SinkContext) -> SinkClient:
    client = context.client(options.url)
    if options.api_key:
        client.headers = {**client.headers, "Authorization": f"ApiKey {context.secret(options.api_key)}"}
    elif options.username:
        credentials = f"{options.username}:{context.secret(options.password)}".encode()
        client.headers = {**client.headers, "Authorization": f"Basic {b64encode(credentials).decode()}"}
    return client


def _first_of(outcomes: Mapping[int, DeliveryOutcome], count: int) -> tuple[DeliveryOutcome, ...]:
    """Up to the first delivery that nothing is known of."""
    return tuple(outcomes[number] for number in takewhile(outcomes.__contains__, range(count)))


def _in_paths(names: Sequence[str]) -> list[str]:
    paths: list[str] = []
    for name in map(in_path, names):
        if paths and len(paths[-1]) + len(name) < LONGEST_NAMES:
            paths[-1] += f",{name}"
        else:
            paths.append(name)
    return paths


def _other_server(address: str) -> SinkDown:
    return SinkDown(
        f"The answer of {address} is none of Elasticsearch or OpenSearch.",
        fix="See whether another server, or a proxy, answers at that address.",
    )


def _object_in(answer: SinkAnswer) -> dict[str, Any]:
    found = answer.json()
    if not isinstance(found, dict):
        raise SinkDown(f"The answer (status {answer.status}) is not one of Elasticsearch or OpenSearch.")
    return found


def _error(answer: SinkAnswer) -> Mapping[str, Any]:
    try:
        error = answer.json()["error"]
    except (Unreachable, LookupError, TypeError):
        return {}
    return error if isinstance(error, Mapping) else {"type": "error", "reason": error}


def _words(answer: SinkAnswer) -> str:
    error = _error(answer)
    return words_of(error) if error else answer.text


def _homes(options: ElasticsearchOptions) -> tuple[SinkHome]:
    return (SinkHome(comparable_address(options.url), layout_of(options).template_names),)


async def _test(sink: Sink, fence: Fence) -> str:
    assert isinstance(sink, ElasticsearchSink)
    return await sink.test(fence)


async def _server_id(sink: ElasticsearchSink, fence: Fence) -> str | None:
    return await sink.cluster_id(fence)


KIND = SinkKind(
    name="elasticsearch",
    summary="Elasticsearch 8 and 9 and OpenSearch 2 and 3: an index per source, kind, or language for searches.",
    options=ElasticsearchOptions,
    make=ElasticsearchSink,
    # With their raw pages some hundred records are as much as a request or two should carry.
    batch=200,
    wants_html=lambda options: options.sends_html,
    homes=_homes,
    server_id=_server_id,
    takes=lambda options: layout_of(options).takes,
    test=_test,
)
