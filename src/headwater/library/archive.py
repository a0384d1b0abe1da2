"""The archive of an installation, to read from any program: no event loop needed, and nothing can be written."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from headwater.errors import UsageError
from headwater.library.given import text_of
from headwater.library.values import DocumentVersion, FoundDocument, StoredDocument, Vacancy

if TYPE_CHECKING:
    from headwater.database.pool import Database
    from headwater.library.reader_thread import ReaderThread
    from headwater.search.engine import SearchEngine

T = TypeVar("T")

PAGE = 100
A_MOMENT = "Give a datetime with one, as in datetime(2026, 5, 1, tzinfo=UTC)."


class Archive:
    """Made by `headwater.open`. Use it in a `with` block, or call `close`; any thread may ask it.

    Times given to it have a time zone. A program with an event loop asks by `asyncio.to_thread`.
    """

    def __init__(self, config: Path | None, settings: Mapping[str, str]) -> None:
        from headwater.library.reader_thread import ReaderThread

        self._reader: ReaderThread | None = ReaderThread(config, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the database back; an embedded one that nobody else uses stops."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def document(self, which: str) -> StoredDocument | None:
        """By its URL in any spelling, or by its id; None where there is none, or it was withdrawn."""
        from headwater.library import archive_reads

        wanted = text_of(which, "URL or id")
        return self._ask(lambda database: archive_reads.document(database, wanted))

    def versions(self, which: str) -> list[DocumentVersion]:
        """The versions of a document, the newest first; none where there is no document."""
        from headwater.library import archive_reads

        wanted = text_of(which, "URL or id")
        return self._ask(lambda database: archive_reads.versions(database, wanted))

    def documents(
        self,
        *,
        source: str = "",
        language: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        duplicates: bool = False,
    ) -> Iterator[FoundDocument]:
        """All documents, the newest first, read page by page as they are asked for.

        `source` is an id, address, host or name; `since` and `until` are about when a document was published, or else
        first seen, and `until` is not included.
        """
        return self._found("", source, language, since, until, duplicates=duplicates)

    def search(
        self,
        words: str,
        *,
        source: str = "",
        language: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        duplicates: bool = False,
    ) -> Iterator[FoundDocument]:
        """Documents with these words, the best first: words, "whole phrases", `or` and `-without`."""
        if not text_of(words, "question").strip():
            raise UsageError("There is nothing to search for.", fix="Give words; `documents` lists all.")
        return self._found(words, source, language, since, until, duplicates=duplicates)

    def vacancies(
        self, words: str = "", *, source: str = "", language: str = "", country: str = ""
    ) -> Iterator[Vacancy]:
        """Open vacancies: with these words the best first, else the newest. `country` is a name or two letters."""
        from headwater.library import archive_reads

        _check_texts(question=words, source=source, language=language, country=country)

        def read(engine: "SearchEngine", cursor: str | None) -> "Awaitable[tuple[list[Vacancy], str | None]]":
            return archive_reads.vacancies(engine, words, (source, language), country, PAGE, cursor)

        return self._pages(read)

    def _found(
        self,
        words: str,
        source: str,
        language: str,
        since: datetime | None,
        until: datetime | None,
        *,
        duplicates: bool,
    ) -> Iterator[FoundDocument]:
        from headwater.library import archive_reads

        _check_texts(source=source, language=language)
        for at in (since, until):
            if at is not None and getattr(at, "tzinfo", None) is None:
                raise UsageError(f"{at!r} is no moment with a time zone.", fix=A_MOMENT)
        filters = archive_reads.Asked(source, language, since, until, duplicates)

        def read(engine: "SearchEngine", cursor: str | None) -> "Awaitable[tuple[list[FoundDocument], str | None]]":
            return archive_reads.documents(engine, words, filters, PAGE, cursor)

        return self._pages(read)

    def _pages(
        self, read: "Callable[[SearchEngine, str | None], Awaitable[tuple[list[T], str | None]]]"
    ) -> Iterator[T]:
        cursor: str | None = None
        while True:
            reader, after = self._open(), cursor
            found, cursor = reader.ask(lambda _: read(reader.search_engine, after))  # noqa: B023
            yield from found
            if cursor is None:
                return

    def _ask(self, work: "Callable[[Database], Awaitable[T]]") -> T:
        return self._open().ask(work)

    def _open(self) -> "ReaderThread":
        if self._reader is None:
            raise UsageError("This archive is closed.", fix="Open it again: headwater.open()")
        return self._reader


def _check_texts(**given: object) -> None:
    for name, value in given.items():
        text_of(value, name)
