"""Meilisearch: an index of vacancies and one of documents, each write confirmed by its task.

A write is answered with 202 before anything is done. Tasks of an index run in the order in which they came, so the next
write waits until the one before it is confirmed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import Any, Self

import orjson
from pydantic import Field, field_validator, model_validator

from headwater.clock import Clock
from headwater.deliver.http import SinkAnswer, SinkClient, Unreachable, in_path
from headwater.deliver.payload import in_parts
from headwater.deliver.records import Record
from headwater.deliver.secrets import SecretName, ServerAddress, comparable_address, whole_address
from headwater.deliver.sink import (
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    HeldRecord,
    KeyRange,
    LeaseEnded,
    RecordRefused,
    SinkContext,
    SinkDown,
    SinkHome,
    SinkKind,
    SinkOptions,
    Upsert,
)
from headwater.log import Logger
from headwater.net.caching import retry_after
from headwater.record_kind import RecordKind
from headwater.rights.record import PageUse

# A third of a lease: a write and the task that confirms it.
TASK_SECONDS = 20.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0
# Servers take 100 MB unless they are told otherwise, and index in memory what comes at once.
PIECE_BYTES = 10 << 20
PAGE = 1_000
PRIMARY_KEY = "id"
# So many hex digits of an id are a number that Meilisearch compares exactly: texts it does not compare at all.
PREFIX_DIGITS = 13
# Whatever keys a publisher thought of would each become a field of the index, which has 65,535 of them at most.
_NOT_INDEXED = frozenset({"metadata", "raw_metadata"})
JOBS_SETTINGS: Mapping[str, Any] = {
    "searchableAttributes": [
        *("title", "org_name", "description_snippet", "mission_tags", "functional_tags", "location_raw"),
        *("country_name", "city"),
    ],
    "filterableAttributes": [
        *("country", "country_iso", "city", "region_code", "level_norm", "mission_tags", "functional_tags"),
        *("international_eligible", "org_name", "org_type", "work_modality", "career_type", "contract_type"),
        *("language", "status", "source_id", "source_name", "id_prefix"),
    ],
    "sortableAttributes": ["fetched_at", "deadline", "last_seen_at"],
    "distinctAttribute": "canonical_hash",
}
DOCUMENTS_SETTINGS: Mapping[str, Any] = {
    "searchableAttributes": ["title", "summary", "text", "keywords", "author", "source_name"],
    "filterableAttributes": [
        *("source_id", "source_name", "language", "section", "keywords", "author", "authors", "page_type", "id_prefix"),
        *(f"rights.{use}" for use in PageUse),
    ],
    "sortableAttributes": ["published_at", "crawled_at", "changed_at"],
}
_FINISHED = frozenset({"succeeded", "failed", "canceled"})
_TOO_LARGE = 413
_NOT_FOUND = 404
# Of a request that may be tried with fewer records. All other errors are about the server, the key or the index.
_OF_RECORDS = frozenset({400, _TOO_LARGE, 422})
_OF_SERVER = frozenset({"internal", "system", "auth"})
_OF_INDEX = frozenset(
    {
        "index_primary_key_already_exists",
        "index_primary_key_multiple_candidates_found",
        "index_primary_key_no_candidate_found",
        "index_creation_failed",
        "invalid_index_uid",
        "invalid_index_primary_key",
        "vector_embedding_error",
    }
)
_FIXES = {
    "no_space_left_on_device": "Give it room, or delete finished tasks there: DELETE /tasks?statuses=succeeded.",
    "database_size_limit_reached": "Give it room, or deliver to another index.",
    "missing_authorization_header": "Name its key: the option api_key, as env:NAME or file:/path.",
    "invalid_api_key": "Give a key that may do documents.*, indexes.*, settings.* and tasks.get on these indexes.",
    "index_primary_key_already_exists": "Name another index, or delete this one there.",
    "vector_embedding_error": "See to the embedder of the index.",
}
_INDEX_NAME = re.compile(r"[A-Za-z0-9_-]{1,400}", re.ASCII)
_OUR_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


class MeilisearchOptions(SinkOptions):
    url: ServerAddress = Field(
        description="The server, such as http://localhost:7700, or env:NAME or file:/path where its address stands."
    )
    api_key: SecretName = Field("", description="Where its key stands: env:NAME or file:/path. Empty: it wants none.")
    jobs_index: str = Field("jobs_index", description="Index of vacancies; empty: they are not delivered.")
    documents_index: str = Field("documents", description="Index of documents; empty: they are not delivered.")

    @field_validator("jobs_index", "documents_index")
    @classmethod
    def _is_name(cls, value: str) -> str:
        if value and not _INDEX_NAME.fullmatch(value):
            raise ValueError("is no name of an index: letters, digits, - and _, 400 at most")
        return value

    @model_validator(mode="after")
    def _has_an_index(self) -> Self:
        if not self.indexes:
            raise ValueError("jobs_index and documents_index are both empty: nothing would be delivered")
        if self.jobs_index == self.documents_index:
            raise ValueError("jobs_index and documents_index are the same: their settings differ, so name two")
        return self

    @property
    def indexes(self) -> dict[RecordKind, str]:
        named = {RecordKind.JOB: self.jobs_index, RecordKind.DOCUMENT: self.documents_index}
        return {kind: name for kind, name in named.items() if name}


@dataclass(frozen=True, slots=True)
class MeilisearchError:
    """As the server says it, in an answer or in a task."""

    message: str
    code: str
    type: str

    @property
    def words(self) -> str:
        return f"{self.message} ({self.code})" if self.code else self.message


@dataclass(frozen=True, slots=True)
class _SentItem:
    """A delivery as it is sent: a document, or the id of one to delete."""

    number: int  # in the batch
    index: str
    is_upsert: bool
    body: bytes

    @property
    def target(self) -> tuple[str, bool]:
        return self.index, self.is_upsert


@dataclass(slots=True)
class MeilisearchSink:
    indexes: Mapping[RecordKind, str]
    client: SinkClient
    clock: Clock
    log: Logger
    # Indexes, with their server, whose settings this process has compared.
    compared: set[tuple[str, str]] = field(default_factory=set)

    def place_of(self, record: Record) -> str:
        return self.indexes[record.key.kind]

    async def prepare(self, fence: Fence) -> None:
        """Wait for what was written before, by whomever: the holder before may have left tasks behind."""
        await self._wait_for_earlier_tasks(fence)
        for kind, index in self.indexes.items():
            await self._see_to_index(index, _settings_of(kind), fence)

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        outcomes: dict[int, DeliveryOutcome] = {}
        try:
            for items in _pieces(self._item(number, one) for number, one in enumerate(batch)):
                await self._write_or_split(items, fence, outcomes)
        except LeaseEnded:
            if known := _first_known(outcomes):
                return known
            raise
        except SinkDown as down:
            down.outcomes = tuple(_first_known(outcomes))
            raise
        return _first_known(outcomes)

    async def state_of(self, wanted: KeyRange) -> Sequence[HeldRecord]:
        """By pages; a page may shift while others write, so what is missing may only have moved."""
        index = self.indexes.get(wanted.kind)
        if not index:
            return []
        found: dict[str, HeldRecord] = {}
        narrowed: str | None = f"id_prefix >= {_prefix(wanted.first)} AND id_prefix <= {_prefix(wanted.last)}"
        offset = 0
        while True:
            answer = await self._page(index, offset, narrowed)
            if answer.status == _NOT_FOUND and _error_in(answer).code == "index_not_found":
                return []
            if answer.status == 400 and narrowed and _error_in(answer).code == "invalid_document_filter":
                # Somebody made the index with settings of their own: everything has to be looked at.
                narrowed, offset = None, 0
                continue
            rows = _value(self._require_success(answer), "results")
            for row in rows:
                if _OUR_ID.fullmatch(str(row["id"])) and wanted.first <= row["id"] <= wanted.last:
                    found[row["id"]] = HeldRecord(row["id"], row.get("version") or 0, index)
            if len(rows) < PAGE:
                return list(found.values())
            offset += PAGE

    async def close(self) -> None: ...

    async def describe(self, fence: Fence) -> str:
        fence.require(TASK_SECONDS)
        told = []
        for index in self.indexes.values():
            answer = await self._request("GET", f"/indexes/{in_path(index)}/stats", None, self._deadline())
            if answer.status == _NOT_FOUND:
                told.append(f"{index} is not there yet and will be made")
            else:
                told.append(f"{index} has {_value(self._require_success(answer), 'numberOfDocuments'):,} documents")
        return f"Meilisearch at {self.client.address} answers: {', '.join(told)}."

    def _item(self, number: int, delivery: Delivery) -> _SentItem:
        index = delivery.place or self.indexes[delivery.key.kind]
        if isinstance(delivery, Upsert):
            return _SentItem(number, index, True, orjson.dumps(document_of(delivery.record), option=orjson.OPT_UTC_Z))
        return _SentItem(number, index, False, orjson.dumps(delivery.key.id))

    async def _write_or_split(
        self, items: Sequence[_SentItem], fence: Fence, outcomes: dict[int, DeliveryOutcome]
    ) -> None:
        """A task fails as a whole and names one reason: halves find the records that are the reason."""
        error = await self._write(items, fence)
        if error is None:
            outcomes.update({item.number: Accepted() for item in items})
        elif len(items) == 1:
            outcomes[items[0].number] = RecordRefused(error.words)
        else:
            middle = len(items) // 2
            await self._write_or_split(items[:middle], fence, outcomes)
            await self._write_or_split(items[middle:], fence, outcomes)

    async def _write(self, items: Sequence[_SentItem], fence: Fence) -> MeilisearchError | None:
        """All of one index, and all to be put or all to be deleted. Returns an error that is about these records."""
        index, is_upsert = items[0].target
        documents = f"/indexes/{in_path(index)}/documents"
        path = f"{documents}?primaryKey={PRIMARY_KEY}" if is_upsert else f"{documents}/delete-batch"
        fence.require(TASK_SECONDS)
        deadline = self._deadline()
        answer = await self._request("POST", path, b"[%b]" % b",".join(item.body for item in items), deadline)
        if not answer.is_success:
            return self._error_of_records(_error_in(answer), answer)
        task = await self._finished(answer, deadline)
        if task["status"] == "succeeded":
            return None
        error = _error_from(task.get("error"))
        if error.code == "index_not_found" and not is_upsert:
            return None
        return self._error_of_records(error)

    async def _see_to_index(self, index: str, settings: Mapping[str, Any], fence: Fence) -> None:
        """Settings make an index that is not there, in one task: there is none with half of what it needs."""
        fence.require(TASK_SECONDS)
        deadline, path = self._deadline(), f"/indexes/{in_path(index)}"
        answer = await self._request("GET", path, None, deadline)
        if answer.status == _NOT_FOUND and _error_in(answer).code == "index_not_found":
            await fence.note_missing(index)
            made = await self._request("PATCH", f"{path}/settings", orjson.dumps(settings), deadline)
            task = await self._finished(self._require_success(made), deadline)
            if task["status"] != "succeeded":
                raise self._down(_error_from(task.get("error")))
            self.log.info("index_made", index=index, server=self.client.address)
            return
        key = _value(self._require_success(answer), "primaryKey")
        if key not in (None, PRIMARY_KEY):
            raise SinkDown(
                f"The index {index} at {self.client.address} belongs to something else: its primary key is {key!r}.",
                fix="Name another index, or delete this one there.",
            )
        if (self.client.address, index) not in self.compared:
            self.compared.add((self.client.address, index))
            await self._compare_settings(index, settings, deadline)

    async def _compare_settings(self, index: str, wanted: Mapping[str, Any], deadline: float) -> None:
        """They may be the operator's own: said, and left alone."""
        answer = await self._request("GET", f"/indexes/{in_path(index)}/settings", None, deadline)
        if missing := settings_missing(wanted, self._require_success(answer).json()):
            self.log.warning(
                "index_settings_differ",
                index=index,
                missing=missing,
                fix=f"Headwater leaves them as they are. To have ours: PATCH /indexes/{index}/settings there.",
            )

    async def _wait_for_earlier_tasks(self, fence: Fence) -> None:
        fence.require(TASK_SECONDS)
        deadline = self._deadline()
        names = ",".join(in_path(name) for name in self.indexes.values())
        path = f"/tasks?indexUids={names}&statuses=enqueued,processing&limit=1"
        first = ""
        for pause in _pauses():
            answer = self._require_success(await self._request("GET", path + first, None, deadline))
            waiting = _value(answer, "results")
            if not waiting:
                return
            # Newest first, and from the first look on: what others write meanwhile is not waited for.
            first = first or f"&from={waiting[0]['uid']}"
            await self._pause(pause, deadline, f"task {waiting[0]['uid']} before ours is {waiting[0]['status']}")

    async def _finished(self, enqueued: SinkAnswer, deadline: float) -> dict[str, Any]:
        number = _value(enqueued, "taskUid")
        for pause in _pauses():
            answer = await self._request("GET", f"/tasks/{number}", None, deadline)
            task: dict[str, Any] = self._require_success(answer).json()
            if task["status"] == "canceled":
                raise SinkDown(f"Somebody canceled task {number} of Meilisearch at {self.client.address}.")
            if task["status"] in _FINISHED:
                return task
            await self._pause(pause, deadline, f"task {number} is {task['status']}")
        raise AssertionError("pauses never end")

    async def _pause(self, seconds: float, deadline: float, standing: str) -> None:
        if self.clock.monotonic() + seconds >= deadline:
            raise SinkDown(
                f"Meilisearch at {self.client.address} is behind: after {TASK_SECONDS:.0f} s {standing}.",
                fix="Wait, or see what it is doing: GET /tasks?statuses=processing there.",
            )
        await self.clock.sleep(seconds)

    def _deadline(self) -> float:
        return self.clock.monotonic() + TASK_SECONDS

    async def _page(self, index: str, offset: int, narrowed: str | None) -> SinkAnswer:
        asked = {"offset": offset, "limit": PAGE, "fields": ["id", "version"]}
        body = orjson.dumps(asked | ({"filter": narrowed} if narrowed else {}))
        return await self._request("POST", f"/indexes/{in_path(index)}/documents/fetch", body, self._deadline())

    async def _request(self, method: str, path: str, body: bytes | None, deadline: float) -> SinkAnswer:
        left = max(deadline - self.clock.monotonic(), 0.1)
        headers = {"Content-Type": "application/json"} if body is not None else None
        return await self.client.request(method, path, body, headers, min(left, self.client.timeout))

    def _require_success(self, answer: SinkAnswer) -> SinkAnswer:
        if not answer.is_success:
            raise self._down(_error_in(answer), answer)
        return answer

    def _error_of_records(self, error: MeilisearchError, answer: SinkAnswer | None = None) -> MeilisearchError:
        """Raises SinkDown for every other. The full task store answers 422, too: the error's type tells them apart."""
        is_of_records = answer is None or answer.status in _OF_RECORDS
        is_untold = not error.type and (answer is None or answer.status != _TOO_LARGE)
        if not is_of_records or is_untold or error.type in _OF_SERVER or error.code in _OF_INDEX:
            raise self._down(error, answer)
        return error

    def _down(self, error: MeilisearchError, answer: SinkAnswer | None = None) -> SinkDown:
        asked = None if answer is None else retry_after(answer.headers.get("Retry-After", ""), self.clock.now())
        status = "" if answer is None else f" ({answer.status})"
        return SinkDown(
            f"Meilisearch at {self.client.address} takes nothing{status}: {error.words}",
            fix=_FIXES.get(error.code, ""),
            retry_after=asked,
        )


def document_of(record: Record) -> dict[str, Any]:
    fields = {name: value for name, value in record.fields.items() if name not in _NOT_INDEXED}
    fields["id_prefix"] = _prefix(record.id)
    if record.key.kind is RecordKind.JOB:
        fields["canonical_hash"] = record.id
    return fields


def settings_missing(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of ours that an index lacks. An operator may have more, and in another order."""
    missing: dict[str, Any] = {}
    for name, value in wanted.items():
        there = found.get(name)
        if not isinstance(value, list):
            if there != value:
                missing[name] = value
            continue
        given = _attributes(there)
        if "*" not in given and (lacking := [one for one in value if one not in given]):
            missing[name] = lacking
    return missing


def _attributes(given: Any) -> set[str]:
    """Newer servers may answer with objects that name patterns."""
    names: set[str] = set()
    for one in given or []:
        names.update(one.get("attributePatterns", []) if isinstance(one, dict) else [str(one)])
    return names


def _settings_of(kind: RecordKind) -> Mapping[str, Any]:
    return JOBS_SETTINGS if kind is RecordKind.JOB else DOCUMENTS_SETTINGS


def _prefix(record_id: str) -> int:
    return int(record_id[:PREFIX_DIGITS], 16)


def _pieces(items: Iterator[_SentItem]) -> Iterator[Sequence[_SentItem]]:
    """Parts of a batch in order, and each of them by index and deed: a key is in an index once, so order is free."""
    for part in in_parts(items, lambda item: len(item.body), PIECE_BYTES):
        for _, group in groupby(sorted(part, key=lambda item: item.target), key=lambda item: item.target):
            yield list(group)


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)


def _first_known(outcomes: Mapping[int, DeliveryOutcome]) -> list[DeliveryOutcome]:
    numbers = takewhile(outcomes.__contains__, range(len(outcomes)))
    return [outcomes[number] for number in numbers]


def _value(answer: SinkAnswer, name: str) -> Any:
    found = answer.json()
    if not isinstance(found, dict) or name not in found:
        raise Unreachable(
            f"The answer has no {name}: this is no Meilisearch.", fix="See that the address is that of Meilisearch."
        )
    return found[name]


def _error_in(answer: SinkAnswer) -> MeilisearchError:
    try:
        found = answer.json()
    except Unreachable:
        found = None
    if isinstance(found, dict) and "message" in found:
        return _error_from(found)
    # Not its own words: a proxy's.
    return MeilisearchError(" ".join(answer.text.split())[:200] or f"status {answer.status}", "", "")


def _error_from(found: Any) -> MeilisearchError:
    told = found if isinstance(found, dict) else {}
    return MeilisearchError(
        str(told.get("message", "no reason given")), str(told.get("code", "")), str(told.get("type", ""))
    )


@dataclass(frozen=True, slots=True)
class MeilisearchSinks:
    """Makes them, and remembers whose settings were compared: a sink is made anew for every lease."""

    compared: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, options: MeilisearchOptions, context: SinkContext) -> MeilisearchSink:
        client = context.client(whole_address(options.url, context.secret))
        if options.api_key:
            key = context.secret(options.api_key)
            client = replace(client, headers={**client.headers, "Authorization": f"Bearer {key}"})
        return MeilisearchSink(options.indexes, client, context.clock, context.log, self.compared)


def _takes(options: MeilisearchOptions) -> frozenset[RecordKind]:
    return frozenset(options.indexes)


async def _test(sink: Any, fence: Fence) -> str:
    assert isinstance(sink, MeilisearchSink)
    return await sink.describe(fence)


def _homes(options: MeilisearchOptions) -> list[SinkHome]:
    return [SinkHome(comparable_address(options.url), index) for index in options.indexes.values()]


KIND = SinkKind(
    "meilisearch",
    "indexes of vacancies and documents in Meilisearch",
    MeilisearchOptions,
    MeilisearchSinks(),
    takes=_takes,
    homes=_homes,
    test=_test,
)
