from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from headwater.archive.documents import NewDocument
from headwater.archive.reads import Document
from headwater.ingest.difference import Difference, difference, likeness, only_in
from headwater.rights.record import rights_as_dict
from headwater.urls.fingerprint import DocumentKey

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
TEXT = "The harbour wall broke.\n\nNobody was hurt.\n\nIt is being mended."
SAID: dict[str, Any] = {
    "source_id": UUID(int=1),
    "url": "https://a.example/1",
    "canonical_url": "https://a.example/1",
    "title": "A wall breaks",
    "text": TEXT,
    "word_count": 12,
    "content_hash": b"a" * 32,
    "author": "Ann",
    "authors": ["Ann"],
    "published_at": NOW,
    "language": "en",
    "section": "",
    "summary": "",
    "page_type": "article",
    "quality": 60,
    "produced_by": "extractor",
}


def standing(**fields: Any) -> Document:
    kept: dict[str, Any] = {
        "key": DocumentKey(1, b"k" * 32),
        "keywords": ["sea"],
        "images": [],
        "quality_parts": {},
        "simhash": None,
        "metadata": {},
        "updated_at": None,
        "version": 1,
        "first_seen_at": NOW,
        "changed_at": NOW,
        "crawled_at": NOW,
        "claimed_url": None,
        "is_claim_believed": False,
        "duplicate_of": None,
        "near_duplicate_of": None,
        "deleted_at": None,
        "deleted_reason": None,
        "rights": rights_as_dict([], None),
    }
    return Document(**SAID | kept | fields)


def read_now(**fields: Any) -> NewDocument:
    return NewDocument(**SAID | {"bucket": 1, "url_hash": b"k" * 32, "keywords": ("sea",)} | fields)


def test_the_same_is_no_difference() -> None:
    assert difference(standing(), read_now()) == Difference({})


def test_what_the_archive_would_not_write_is_no_difference() -> None:
    assert not difference(standing(), read_now(quality=90, images=("https://a.example/i",))).is_change
    assert not difference(standing(), read_now(metadata={"nonce": "7"})).is_change


def test_a_changed_field_is_told_with_what_it_was() -> None:
    found = difference(standing(), read_now(title="The wall breaks", quality=70))
    assert found.is_change
    assert found.fields == {"title": ("A wall breaks", "The wall breaks"), "quality": (60, 70)}
    assert (found.likeness, found.lines_gone, found.lines_come) == (1.0, (), ())


def test_lists_are_compared_by_what_they_hold() -> None:
    assert not difference(standing(), read_now(keywords=("sea",))).is_change
    assert difference(standing(), read_now(keywords=("sea", "wall"))).fields == {"keywords": (["sea"], ["sea", "wall"])}


def test_what_cannot_be_stored_is_compared_as_it_would_be_stored() -> None:
    assert not difference(standing(title="A\ufffdwall"), read_now(title="A\0wall")).is_change


def test_a_changed_text_is_told_by_its_lines_and_a_ratio() -> None:
    changed = TEXT.replace("Nobody was hurt.", "Subscribe to our letter.")
    found = difference(standing(), read_now(text=changed, content_hash=b"b" * 32))
    assert found.lines_gone == ("Nobody was hurt.",)
    assert found.lines_come == ("Subscribe to our letter.",)
    assert 0.6 < found.likeness < 0.8


def test_only_the_first_lines_are_shown() -> None:
    assert only_in("a\nb\nc\nd\ne", "b") == ("a", "c", "d")
    assert only_in("", "b") == ()


def test_likeness_goes_from_nothing_to_everything() -> None:
    assert likeness("one two", "one two") == 1.0
    assert likeness("one two", "three") == 0.0
    assert likeness("one one two", "one two two") == 2 / 3
    assert likeness("", "") == 0.0
