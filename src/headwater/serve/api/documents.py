"""/api/v1/documents: the archive, one document or many."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions.rereading import reextract_page
from headwater.actions.searching import documents_wished
from headwater.deliver.exports.request import ExportFormat
from headwater.record_kind import RecordKind
from headwater.reports.documents import (
    blocks_named,
    body_of,
    document_named,
    inspect_document,
    outlinks_named,
    page_of_versions,
    version_named,
)
from headwater.reports.paging import foreign_cursor
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.archive_filters import (
    ArchiveFilters,
    Hits,
    InView,
    SearchAccount,
    Since,
    Source,
)
from headwater.serve.api.exporting import EXPORT_RESPONSES, Streamed, export_stream
from headwater.serve.api.operations import OperationShape
from headwater.serve.operations import Progress
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit, Live, LongWork
from headwater.shapes.archive import (
    account_of,
    blocks_as_dict,
    document_as_dict,
    document_hit_as_dict,
    replayed_as_dict,
    version_as_dict,
)

router = APIRouter(prefix="/api/v1", tags=["documents"])

LARGEST_VERSION = 2**31 - 1
# A page may hold anything: it is never shown under our address.
AS_FILE = {
    "content-security-policy": "sandbox; default-src 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}
DocumentId = Annotated[
    str, Path(pattern="^[0-9a-fA-F]{64}$", description="64 hex digits, as lists say it.", examples=["0" * 64])
]


class DocumentHit(BaseModel):
    """A document in a list. `snippet` marks matches as **so**; it is plain text, to be escaped in HTML."""

    id: str
    url: str
    title: str
    source: str | None
    source_id: UUID
    language: str
    published_at: datetime | None
    first_seen_at: datetime
    word_count: int
    is_duplicate: bool
    snippet: str
    rank: float


class DocumentList(SearchAccount):
    documents: list[DocumentHit]


class RelativeShape(BaseModel):
    relation: str = Field(description="duplicate_of, near, or duplicate.")
    id: str
    url: str


class RightsStatement(BaseModel):
    """A publisher's statement about use. `said` are its own words."""

    convention: str = Field(description="content-usage, content-signal, tdmrep, rsl or noai.")
    place: str = Field(description="robots.txt, header, page, feed or /.well-known/tdmrep.json.")
    said: str
    allowed: list[str]
    refused: list[str]
    licence: str


class RightsShape(BaseModel):
    """What the publisher says about use: allowed, refused or unknown; the strictest statement decides."""

    train: str
    input: str
    search: str
    tdm: str
    images: str
    licences: list[str]
    statements: list[RightsStatement]


class DocumentShape(BaseModel):
    """A document as it is kept. One that was taken down has no words."""

    id: str
    source_id: UUID
    source: str
    url: str
    canonical_url: str
    claimed_url: str | None = Field(description="The page that it calls canonical.")
    is_claim_believed: bool
    why_not_canonical: str | None
    title: str
    summary: str
    text: str
    author: str = Field(description="The authors in one line.")
    authors: list[str]
    section: str
    keywords: list[str]
    images: list[str]
    published_at: datetime | None
    updated_at: datetime | None
    language: str
    word_count: int
    page_type: str
    quality: int | None = Field(description="0 to 100.")
    quality_parts: dict[str, int]
    version: int
    content_hash: str
    simhash: int | None
    produced_by: str
    metadata: dict[str, Any]
    rights: RightsShape
    first_seen_at: datetime
    crawled_at: datetime
    changed_at: datetime
    deleted_at: datetime | None
    deleted_reason: str | None
    duplicate_of: str | None
    near_duplicate_of: str | None
    relatives: list[RelativeShape]


class VersionInShort(BaseModel):
    version: int
    title: str
    content_hash: str
    word_count: int
    crawled_at: datetime
    changed_at: datetime
    replaced_at: datetime | None = Field(description="null: it is what the document says now.")
    rights: RightsShape


class VersionShape(VersionInShort):
    text: str


class VersionList(BaseModel):
    versions: list[VersionInShort]
    cursor: str | None


class BlockMark(BaseModel):
    """A part of a line: code, strong, emphasis or link."""

    begin: int
    end: int = Field(description="Of the first character behind it.")
    kind: str
    url: str | None = None


class TableMark(BlockMark):
    """A part of a cell; rows and columns are counted from 0."""

    row: int
    column: int


class BlockShape(BaseModel):
    """A block of a document. What a kind has no use for is left out."""

    kind: str = Field(description="heading, paragraph, item, term, quote, note, code, table, figure, embed or entry.")
    text: str | None = None
    level: int | None = Field(None, description="Of a heading: 1 to 6. Of a note: 1 is its title.")
    depth: int | None = Field(None, description="How many lists are around it.")
    number: int | None = Field(None, description="Of an ordered item.")
    language: str | None = Field(None, description="Of code.")
    rows: list[list[str]] | None = Field(None, description="Of a table.")
    has_header: bool | None = None
    caption: str | None = None
    url: str | None = None
    alt: str | None = None
    label: str | None = Field(None, description="Of a note: warning, tip and the like.")
    at: datetime | None = Field(None, description="Of a live entry.")
    marks: list[BlockMark] | None = None
    cell_marks: list[TableMark] | None = None


class DocumentBlocks(BaseModel):
    id: str
    version: int
    blocks: list[BlockShape]
    markdown: str


class OutlinkList(BaseModel):
    id: str
    outlinks: list[str]


class ReextractWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(False, description="Tell the changes, and make none.")


@router.get("/documents")
async def list_documents(caller: Viewer, services: Installed, wish: ArchiveFilters, page: Hits) -> DocumentList:
    """List the documents, the newest first: by when they were first seen. /api/v1/search takes words."""
    answer = await documents_wished(services, "", wish, page.limit, page.cursor)
    return DocumentList.model_validate(
        {"documents": [document_hit_as_dict(one) for one in answer.found], **account_of(answer)}
    )


@router.get("/documents/export", response_class=Response, responses=EXPORT_RESPONSES)
async def export_documents(
    caller: Viewer,
    services: Installed,
    live: Live,
    format: Annotated[Streamed, Query(description="jsonl, csv or atom.")] = ExportFormat.JSONL,
    view: InView = None,
    source: Source = None,
    since: Since = None,
) -> Response:
    """Write all documents, or those of a view, as a stream. Deleted documents and duplicates are left out.

    An answer that ends before its end, without its last chunk, broke off: ask again.
    """
    return await export_stream(services, live, caller.name, RecordKind.DOCUMENT, format, (view, source, since))


@router.get("/documents/by-url", name="find_document")
async def find_by_url(
    caller: Viewer,
    services: Installed,
    url: Annotated[str, Query(min_length=1, max_length=2_083, description="In any spelling.")],
) -> DocumentShape:
    """Show the document of a URL; 404 tells why there is none."""
    return DocumentShape.model_validate(document_as_dict(await inspect_document(services.database, url)))


@router.get("/documents/{id}")
async def show_document(caller: Viewer, services: Installed, id: DocumentId) -> DocumentShape:
    """Show a document: its text, origin, quality and relatives."""
    return DocumentShape.model_validate(document_as_dict(await inspect_document(services.database, id)))


@router.get("/documents/{id}/versions")
async def list_versions(
    caller: Viewer,
    services: Installed,
    id: DocumentId,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> VersionList:
    """List what a document said before, the newest first, without the texts."""
    page = await page_of_versions(services.database, id, limit, _version_in(cursor))
    return VersionList.model_validate({"versions": [version_as_dict(one) for one in page.items], "cursor": page.cursor})


def _version_in(cursor: str | None) -> int:
    if cursor is None:
        return LARGEST_VERSION
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < len(str(LARGEST_VERSION))):
        raise foreign_cursor()
    return int(cursor)


@router.get("/documents/{id}/versions/{version}")
async def show_version(
    caller: Viewer,
    services: Installed,
    id: DocumentId,
    version: Annotated[int, Path(ge=1, le=LARGEST_VERSION)],
) -> VersionShape:
    """Show what a document said at one time, with its text."""
    return VersionShape.model_validate(version_as_dict(await version_named(services.database, id, version)))


@router.get("/documents/{id}/blocks", response_model_exclude_none=True)
async def show_blocks(
    caller: Viewer,
    services: Installed,
    id: DocumentId,
    version: Annotated[int | None, Query(ge=1, le=LARGEST_VERSION, description="The present one unless said.")] = None,
) -> DocumentBlocks:
    """Show what a document is made of, as blocks and as Markdown."""
    return DocumentBlocks.model_validate(
        {"id": id.lower(), **blocks_as_dict(await blocks_named(services.database, id, version))}
    )


@router.get("/documents/{id}/outlinks")
async def list_outlinks(caller: Viewer, services: Installed, id: DocumentId) -> OutlinkList:
    """List where the page of a document points."""
    return OutlinkList(id=id.lower(), outlinks=await outlinks_named(services.database, id))


@router.get(
    "/documents/{id}/raw",
    response_class=Response,
    responses={
        200: {"description": "The bytes, as a file.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    },
    name="show_raw_body",
)
async def read_raw(caller: Viewer, services: Installed, id: DocumentId) -> Response:
    """Give the page of a document as it was sent, byte for byte, as a file and never as a page."""
    kept = await body_of(services.database, id, services.stores)
    named = {"content-disposition": f'attachment; filename="{id.lower()}.txt"'}
    return Response(kept.raw.body, headers=AS_FILE | named, media_type="text/plain")


@router.post("/documents/{id}/reextract", status_code=202, name="reextract_document")
async def reextract(
    caller: Operator,
    services: Installed,
    work: LongWork,
    id: DocumentId,
    response: Response,
    wish: ReextractWish | None = None,
) -> OperationShape:
    """Read the stored page of a document again by today's rules; nothing is fetched. The result tells what differs."""
    await document_named(services.database, id)
    is_dry = wish is not None and wish.dry_run

    async def read_again(_: Progress) -> Mapping[str, Any]:
        done = await reextract_page(services, id, stores=not is_dry)
        return {"dry_run": is_dry, **replayed_as_dict(done)}

    begun = await work.begin("documents.reextract", caller.name, read_again)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return OperationShape.model_validate(begun)
