from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from headwater.archive.raw import KeptBody, RawBody
from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.ingest.page_reader import document_from
from headwater.ingest.stored_pages import lease_of
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
PAGE, NAMED = "https://users.example/~mallory/x", "https://users.example/~alice/post"
OWN = DocumentKey(canonicalise(PAGE).bucket, canonicalise(PAGE).url_hash)
LEASE = lease_of(KeptBody(NOW, RawBody(OWN, UUID(int=1), PAGE, 200, {}, b"")))


def article(named: str) -> Article:
    words = " ".join(f"The harbour opened gate number {n} to ships." for n in range(30))
    head = f'<title>A story</title><link rel="canonical" href="{named}">'
    found = extract(Page(url=PAGE, body=f"{head}<article><p>{words}</p></article>".encode()), NOW)
    assert isinstance(found, Article)
    return found


def test_a_document_stands_under_the_address_it_was_read_from() -> None:
    document, named = document_from(article(NAMED), LEASE), canonicalise(NAMED)
    assert (document.key, document.url) == (OWN, PAGE)
    assert (document.claimed, document.claimed_url) == (DocumentKey(named.bucket, named.url_hash), NAMED)


def test_a_page_that_names_itself_claims_nothing() -> None:
    document = document_from(article(f"{PAGE}#top"), LEASE)
    assert (document.claimed, document.claimed_url, document.canonical_url) == (None, None, PAGE)


@pytest.mark.parametrize("named", ["https://elsewhere.example/", "https://users.example:8443/", "http://127.0.0.1/x"])
def test_a_child_that_was_taken_over_claims_nothing_elsewhere(named: str) -> None:
    forged = replace(article(NAMED), canonical_url=named)
    assert document_from(forged, LEASE).claimed is None
