from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from headwater.archive.documents import NewDocument
from headwater.archive.reads import Document
from headwater.blocks.block import BlockKind, BodyBlock, blocks_of_text, pack_blocks
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


def between(old: Document, new: NewDocument) -> Difference:
    """Where nobody knew more of the old text than its lines."""
    return difference(old, blocks_of_text(old.text), new)


def test_the_same_is_no_difference() -> None:
    assert between(standing(), read_now(authors=("Ann",))) == Difference({})


def test_what_read_the_page_is_no_difference() -> None:
    assert between(standing(), read_now(authors=("Ann",), produced_by="template@3")) == Difference({})


def test_what_belongs_to_the_text_differs_without_another_text() -> None:
    found = between(standing(metadata={"og_type": "article"}), read_now(authors=("Ann", "Bo"), metadata={"access": {}}))
    assert (found.is_change, found.is_of_parts) == (True, True)
    assert found.fields == {
        "authors": (["Ann"], ["Ann", "Bo"]),
        "metadata.access": (None, {}),
        "metadata.og_type": ("article", None),
    }


def test_blocks_of_the_same_text_differ_by_what_they_are() -> None:
    made = (BodyBlock(kind=BlockKind.HEADING, text="The harbour wall broke.", level=2), *blocks_of_text(TEXT)[1:])
    new = read_now(authors=("Ann",), blocks=pack_blocks(made, TEXT))
    assert between(standing(), new).fields == {"blocks": (3, 3)}
    assert difference(standing(), made, new) == Difference({})


def test_what_is_said_anew_is_more_than_its_parts() -> None:
    found = between(standing(), read_now(title="Another", authors=("Bo",)))
    assert (found.is_change, found.is_of_parts) == (True, False)
    assert set(found.fields) == {"title", "authors"}


def test_a_changed_field_is_told_with_what_it_was() -> None:
    found = between(standing(), read_now(authors=("Ann",), title="The wall breaks", quality=70))
    assert found.is_change
    assert found.fields == {"title": ("A wall breaks", "The wall breaks"), "quality": (60, 70)}
    assert (found.likeness, found.lines_gone, found.lines_come) == (1.0, (), ())


def test_lists_are_compared_by_what_they_hold() -> None:
    assert not between(standing(), read_now(authors=("Ann",), keywords=("sea",))).is_change
    assert between(standing(), read_now(authors=("Ann",), keywords=("sea", "wall"))).fields == {
        "keywords": (["sea"], ["sea", "wall"])
    }


def test_what_cannot_be_stored_is_compared_as_it_would_be_stored() -> None:
    assert not between(standing(title="A\ufffdwall"), read_now(authors=("Ann",), title="A\0wall")).is_change


def test_a_changed_text_is_told_by_its_lines_and_a_ratio() -> None:
    changed = TEXT.replace("Nobody was hurt.", "Subscribe to our letter.")
    found = between(standing(), read_now(authors=("Ann",), text=changed, content_hash=b"b" * 32))
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
