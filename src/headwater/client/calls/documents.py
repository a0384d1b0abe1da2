"""Calls about documents.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Literal, Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.documents import (
    DocumentBlocks,
    DocumentList,
    DocumentShape,
    OutlinkList,
    ReextractWish,
    VersionInShort,
    VersionList,
    VersionShape,
)
from headwater.client.shapes.shared import DocumentHit, OperationShape


class DocumentsCalls(Connection):
    """A part of the client."""

    def list_documents(
        self,
        *,
        source: str | None = None,
        language: str | None = None,
        since: str | None = None,
        view: str | None = None,
        rights: list[str] | None = None,
        author: str | None = None,
        host: str | None = None,
        page_type: str | None = None,
        month: str | None = None,
        day: str | None = None,
        duplicates: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> DocumentList:
        """List the documents, the newest first: by when they were first seen. /api/v1/search takes words.

        `source`: Only of this source: its id, address, host or name.
        `language`: Only in this language, by its two letters.
        `since`: Only published, or else first seen, since: 7d, 12h, or a date.
        `view`: Only in this view.
        `rights`: Only documents about whose use publishers say so: train, input, search, tdm or images, = allowed,
        refused or unknown; all must hold.
        `author`: Only documents of this author, as the name is written there. Vacancies have none.
        `host`: Only documents of pages of this host.
        `page_type`: Only documents of such pages: article, video, gallery, live, listing, stub, other.
        `month`: Only published, or else first seen, in this month (UTC).
        `day`: Only published, or else first seen, on this day (UTC).
        `duplicates`: Also those that say the same as an older document.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: DocumentList = self._ask(
            "GET",
            "/api/v1/documents",
            query={
                "source": source,
                "language": language,
                "since": since,
                "view": view,
                "rights": rights,
                "author": author,
                "host": host,
                "page_type": page_type,
                "month": month,
                "day": day,
                "duplicates": duplicates,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return told

    def iter_documents(
        self,
        *,
        source: str | None = None,
        language: str | None = None,
        since: str | None = None,
        view: str | None = None,
        rights: list[str] | None = None,
        author: str | None = None,
        host: str | None = None,
        page_type: str | None = None,
        month: str | None = None,
        day: str | None = None,
        duplicates: bool | None = None,
        limit: int | None = None,
    ) -> Iterator[DocumentHit]:
        """Each of `list_documents`, page by page."""
        return self._each(
            "documents",
            lambda cursor: self.list_documents(
                source=source,
                language=language,
                since=since,
                view=view,
                rights=rights,
                author=author,
                host=host,
                page_type=page_type,
                month=month,
                day=day,
                duplicates=duplicates,
                limit=limit,
                cursor=cursor,
            ),
        )

    def find_document(self, *, url: str) -> DocumentShape:
        """Show the document of a URL; 404 tells why there is none.

        `url`: In any spelling.
        Role: viewer.
        """
        told: DocumentShape = self._ask("GET", "/api/v1/documents/by-url", query={"url": url})
        return told

    def export_documents(
        self,
        *,
        format_: Literal["jsonl", "csv", "atom"] | None = None,
        view: str | None = None,
        source: str | None = None,
        since: str | None = None,
    ) -> Iterator[bytes]:
        """Write all documents, or those of a view, as a stream. Deleted documents and duplicates are left out.

        An answer that ends before its end, without its last chunk, broke off: ask again.

        `format_`: jsonl, csv or atom.
        `view`: Only in this view.
        `source`: Only of this source: its id, address, host or name.
        `since`: Only published, or else first seen, since: 7d, 12h, or a date.
        Role: viewer.
        """
        return self._stream(
            "GET", "/api/v1/documents/export", query={"format": format_, "view": view, "source": source, "since": since}
        )

    def show_document(self, id_: str, /) -> DocumentShape:
        """Show a document: its text, origin, quality and relatives.

        `id_`: 64 hex digits, as lists say it.
        Role: viewer.
        """
        told: DocumentShape = self._ask("GET", f"/api/v1/documents/{in_path(id_)}")
        return told

    def show_blocks(self, id_: str, /, *, version: int | None = None) -> DocumentBlocks:
        """Show what a document is made of, as blocks and as Markdown.

        `id_`: 64 hex digits, as lists say it.
        `version`: The present one unless said.
        Role: viewer.
        """
        told: DocumentBlocks = self._ask("GET", f"/api/v1/documents/{in_path(id_)}/blocks", query={"version": version})
        return told

    def list_outlinks(self, id_: str, /) -> OutlinkList:
        """List where the page of a document points.

        `id_`: 64 hex digits, as lists say it.
        Role: viewer.
        """
        told: OutlinkList = self._ask("GET", f"/api/v1/documents/{in_path(id_)}/outlinks")
        return told

    def show_raw_body(self, id_: str, /) -> Iterator[bytes]:
        """Give the page of a document as it was sent, byte for byte, as a file and never as a page.

        `id_`: 64 hex digits, as lists say it.
        Role: viewer.
        """
        return self._stream("GET", f"/api/v1/documents/{in_path(id_)}/raw")

    def reextract_document(self, id_: str, /, **fields: Unpack[ReextractWish]) -> OperationShape:
        """Read the stored page of a document again by today's rules; nothing is fetched. The result tells what differs.

        `id_`: 64 hex digits, as lists say it.
        Role: operator.
        """
        told: OperationShape = self._ask("POST", f"/api/v1/documents/{in_path(id_)}/reextract", body=fields or None)
        return told

    def list_versions(self, id_: str, /, *, limit: int | None = None, cursor: str | None = None) -> VersionList:
        """List what a document said before, the newest first, without the texts.

        `id_`: 64 hex digits, as lists say it.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: VersionList = self._ask(
            "GET", f"/api/v1/documents/{in_path(id_)}/versions", query={"limit": limit, "cursor": cursor}
        )
        return told

    def iter_versions(self, id_: str, /, *, limit: int | None = None) -> Iterator[VersionInShort]:
        """Each of `list_versions`, page by page."""
        return self._each("versions", lambda cursor: self.list_versions(id_, limit=limit, cursor=cursor))

    def show_version(self, id_: str, version: int, /) -> VersionShape:
        """Show what a document said at one time, with its text.

        `id_`: 64 hex digits, as lists say it.
        Role: viewer.
        """
        told: VersionShape = self._ask("GET", f"/api/v1/documents/{in_path(id_)}/versions/{in_path(version)}")
        return told
