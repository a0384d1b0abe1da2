"""How records lie in Elasticsearch and OpenSearch: which index, which mapping, which document. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from headwater.deliver.records import Record
from headwater.deliver.sink import VERSIONS_PER_BATCH, HeldRecord
from headwater.deliver.sinks import raw_content, record_index, search_index
from headwater.record_kind import RecordKind
from headwater.search.rules import ALL_RULES

# With the default of a minute an older upsert that was late could bring a deleted document back.
REMEMBER_DELETES = "1h"
# Above those without a number; a cluster's own rules, which usually stand higher, go first.
TEMPLATE_PRIORITY = 50
ALIASES = {RecordKind.DOCUMENT: "documents", RecordKind.JOB: "jobs"}


@dataclass(frozen=True, slots=True)
class Index:
    """As it is made. `name` differs from the place where that is an alias."""

    name: str
    body: Mapping[str, Any]


class Layout(Protocol):
    name: ClassVar[str]
    takes: ClassVar[frozenset[RecordKind]]
    # Fields of the source that `held_record` reads; none: False.
    reads: ClassVar[Sequence[str] | bool]

    def place_of(self, record: Record) -> str: ...

    def document_of(self, record: Record) -> dict[str, Any]: ...

    def index_at(self, place: str) -> Index: ...

    def mapping_at(self, place: str) -> Mapping[str, Any] | None:
        """None: no place of this layout; it was delivered there under other options."""

    @property
    def template_names(self) -> str:
        """As a pattern: Elasticsearch takes no list of them."""

    def templates(self) -> Mapping[str, Mapping[str, Any]]:
        """By name: an index that is deleted while records come is made anew by them, as it was."""

    def searched(self, kind: RecordKind) -> str | None:
        """The indexes of a kind; None: it has none."""

    def held_record(self, hit: Mapping[str, Any]) -> HeldRecord: ...


@dataclass(frozen=True, slots=True)
class RawContent:
    """An index per source, as classifiers read it."""

    name: ClassVar[str] = "raw_content"
    takes: ClassVar[frozenset[RecordKind]] = frozenset({RecordKind.DOCUMENT})
    reads: ClassVar[Sequence[str] | bool] = False

    def place_of(self, record: Record) -> str:
        return raw_content.index_of(record.source.name)

    def document_of(self, record: Record) -> dict[str, Any]:
        return raw_content.document_of(record)

    def index_at(self, place: str) -> Index:
        return Index(place, _definition(raw_content.MAPPING))

    def mapping_at(self, place: str) -> Mapping[str, Any] | None:
        return raw_content.MAPPING if place.endswith(raw_content.SUFFIX) else None

    @property
    def template_names(self) -> str:
        return "headwater_raw_content"

    def templates(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            self.template_names: _template(
                f"*{raw_content.SUFFIX}", _definition(raw_content.MAPPING), TEMPLATE_PRIORITY + 1
            )
        }

    def searched(self, kind: RecordKind) -> str | None:
        return f"*{raw_content.SUFFIX}" if kind in self.takes else None

    def held_record(self, hit: Mapping[str, Any]) -> HeldRecord:
        # The mapping is strict and has no field for our version. The server's number has: it is that of our batch times
        # so many, and each update by others, such as a classifier, added one.
        return HeldRecord(hit["_id"], 0, hit["_index"], hit["_version"] // VERSIONS_PER_BATCH)


@dataclass(frozen=True, slots=True)
class Documents:
    """An index and an alias for each kind, with everything that a record has."""

    prefix: str
    name: ClassVar[str] = "documents"
    takes: ClassVar[frozenset[RecordKind]] = frozenset(RecordKind)
    reads: ClassVar[Sequence[str] | bool] = ("version", "kind")

    def place_of(self, record: Record) -> str:
        return self._alias(record.key.kind)

    def document_of(self, record: Record) -> dict[str, Any]:
        return record_index.document_of(record)

    def index_at(self, place: str) -> Index:
        mapping = self.mapping_at(place)
        assert mapping is not None
        return Index(f"{place}-1", {**_definition(mapping), "aliases": {place: {"is_write_index": True}}})

    def mapping_at(self, place: str) -> Mapping[str, Any] | None:
        return next((record_index.mapping_of(kind) for kind in self.takes if place == self._alias(kind)), None)

    @property
    def template_names(self) -> str:
        return f"{self.prefix}_*"

    def templates(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            self._alias(kind): _template(f"{self._alias(kind)}*", _definition(record_index.mapping_of(kind)))
            for kind in ALIASES
        }

    def searched(self, kind: RecordKind) -> str | None:
        return self._alias(kind)

    def held_record(self, hit: Mapping[str, Any]) -> HeldRecord:
        source = hit["_source"]
        return HeldRecord(hit["_id"], source.get("version") or 0, self._alias(RecordKind(source["kind"])))

    def _alias(self, kind: RecordKind) -> str:
        return f"{self.prefix}_{ALIASES[kind]}"


@dataclass(frozen=True, slots=True)
class SearchIndexes:
    """An index for each kind and each language's rules, which searches are put to."""

    prefix: str
    shards: int = 1
    replicas: int = 0
    name: ClassVar[str] = "search"
    takes: ClassVar[frozenset[RecordKind]] = frozenset(RecordKind)
    reads: ClassVar[Sequence[str] | bool] = ("version",)

    def place_of(self, record: Record) -> str:
        return self.index_of(record.key.kind, search_index.rules_for(record))

    def document_of(self, record: Record) -> dict[str, Any]:
        return search_index.document_of(record)

    def index_at(self, place: str) -> Index:
        return Index(place, self._definitions()[place])

    def mapping_at(self, place: str) -> Mapping[str, Any] | None:
        found = self._definitions().get(place)
        return found and found["mappings"]

    @property
    def template_names(self) -> str:
        return f"{self.prefix}_search_*"

    def templates(self) -> Mapping[str, Mapping[str, Any]]:
        return {place: _template(place, definition) for place, definition in self._definitions().items()}

    def searched(self, kind: RecordKind) -> str | None:
        return self.index_of(kind, "*")

    def held_record(self, hit: Mapping[str, Any]) -> HeldRecord:
        return HeldRecord(hit["_id"], hit["_source"].get("version") or 0, hit["_index"])

    def index_of(self, kind: RecordKind, rules: str) -> str:
        return f"{self.prefix}_search_{ALIASES[kind]}_{rules}"

    def _definitions(self) -> dict[str, Mapping[str, Any]]:
        settings = {"number_of_shards": self.shards, "number_of_replicas": self.replicas}
        return {
            self.index_of(kind, rules): _definition(
                search_index.mapping_of(kind), settings | {"analysis": search_index.analysis_of(rules)}
            )
            for kind in RecordKind
            for rules in ALL_RULES
        }


def _definition(mapping: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    usual = {"number_of_shards": 1, "number_of_replicas": 0, "index.gc_deletes": REMEMBER_DELETES}
    return {"settings": usual | dict(settings or {}), "mappings": mapping}


def _template(pattern: str, definition: Mapping[str, Any], priority: int = TEMPLATE_PRIORITY) -> dict[str, Any]:
    return {
        "index_patterns": [pattern],
        "priority": priority,
        "template": definition,
        "_meta": {"description": "Written by Headwater on first use, and never changed by it."},
    }


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Fields of ours that an index lacks or has with another type. Servers leave out what is a default of theirs."""
    found = theirs.get("properties", {})
    for name, field in ours["properties"].items():
        there = found.get(name)
        if there is None or _type_of(there) != _type_of(field):
            yield path + name
        elif "properties" in field:
            yield from differences(field, there, f"{path}{name}.")


def _type_of(field: Mapping[str, Any]) -> str:
    return str(field.get("type", "object"))
