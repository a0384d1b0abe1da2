"""A sink of another distribution: records in one JSON file, which processes share. Files beside it make it fail."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from headwater.deliver import kinds
from headwater.deliver.records import Record
from headwater.deliver.secrets import SecretName
from headwater.deliver.sink import (
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    HeldRecord,
    KeyRange,
    RecordRefused,
    SinkContext,
    SinkDown,
    SinkKind,
    SinkOptions,
    Upsert,
)


class FileOptions(SinkOptions):
    file: str = Field(description="Where the records stand.")
    by_source: bool = Field(False, description="A place for each source.")
    kinds: list[str] = Field([], description="Some words.")
    key: SecretName = Field("", description="A secret.")
    layout: str = ""


class FileSink:
    """A file `X.down` beside the file X: it takes nothing. `X.refused`: it refuses titles that stand there."""

    def __init__(self, options: FileOptions, context: SinkContext) -> None:
        self.file = Path(options.file)
        self.by_source = options.by_source
        self.log = context.log

    def place_of(self, record: Record) -> str:
        return record.source.name if self.by_source else ""

    async def prepare(self, fence: Fence) -> None:
        fence.require(0)
        self.log.info("file_prepared", file=str(self.file))
        if self.beside("down").exists():
            raise SinkDown(self.beside("down").read_text() or "It is down.", fix="Start it.")

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        await self.prepare(fence)
        held = self.held()
        outcomes = [self.take(one, held) for one in batch]
        self.file.write_text(json.dumps(held))
        return outcomes

    def take(self, one: Delivery, held: dict[str, dict[str, object]]) -> DeliveryOutcome:
        name = f"{one.place}/{one.key.id}"
        if not isinstance(one, Upsert):
            held.pop(name, None)
        elif self.beside("refused").exists() and one.record.fields["title"] in self.beside("refused").read_text():
            return RecordRefused("mapper_parsing_exception: no such field")
        else:
            held[name] = {"title": one.record.fields["title"], "version": one.version, "kind": str(one.key.kind)}
        return Accepted()

    def held(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = json.loads(self.file.read_text()) if self.file.exists() else {}
        return found

    def beside(self, end: str) -> Path:
        return self.file.with_suffix(f".{end}")

    async def close(self) -> None:
        pass


class AskableFileSink(FileSink):
    async def state_of(self, wanted: KeyRange) -> Sequence[HeldRecord]:
        places = [(*name.rpartition("/")[::2], one) for name, one in self.held().items()]
        return [
            HeldRecord(id_, int(str(one["version"])), place)
            for place, id_, one in places
            if one["kind"] == str(wanted.kind) and wanted.first <= id_ <= wanted.last
        ]


async def answer(sink: Any, fence: Fence) -> str:
    return f"{sink.file.name} can be written."


FILED = SinkKind("filed", "Records in a file.", FileOptions, AskableFileSink, batch=3, test=answer)
TOLD = SinkKind(
    "told", "Changes for a file.", FileOptions, FileSink, is_events=True, forgets_not="What was told stays told."
)


@contextmanager
def installed_kinds(folder: Path, **targets: str) -> Iterator[None]:
    """As another distribution would install them: a folder of metadata on the path."""
    metadata = folder / "filing-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: filing\nVersion: 1.0\n")
    lines = "\n".join(f"{name} = {target}" for name, target in targets.items())
    (metadata / "entry_points.txt").write_text(f"[{kinds.GROUP}]\n{lines}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        forget_kinds()
        yield
    forget_kinds()


def forget_kinds() -> None:
    kinds.installed.cache_clear()
    kinds.kind_named.cache_clear()
