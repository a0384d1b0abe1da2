"""The raw_content layout: names of indexes, and documents that a strict mapping takes."""

from typing import Any

import pytest
from tests.search_records import CRAWLED_AT, METADATA, SOURCE, document

from headwater.deliver.records import RecordSource
from headwater.deliver.sinks.layouts import RawContent, differences
from headwater.deliver.sinks.raw_content import LONGEST_TERM_BYTES, MAPPING, document_of, index_of
from headwater.record_kind import RecordKind


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("CBC News", "cbc_news_raw_content"),
        ("The Sault Star", "the_sault_star_raw_content"),
        ("example.com", "example_com_raw_content"),
        ("a  -- b", "a_b_raw_content"),
        ("a__b", "a_b_raw_content"),
        ("__edges__", "edges_raw_content"),
        ("(Le Monde)", "le_monde_raw_content"),
        ("Zürich 24", "z_rich_24_raw_content"),
        ("7 days", "7_days_raw_content"),
        ("a\nb", "a_b_raw_content"),
        ("", "unknown_raw_content"),
        ("***", "unknown_raw_content"),
        ("Газета", "unknown_raw_content"),
    ],
)
def test_an_index_is_named_after_the_source(name: str, index: str) -> None:
    assert index_of(name) == index


def test_a_long_name_is_cut_so_that_the_index_can_be_made_and_no_edge_is_left() -> None:
    assert len(index_of("x" * 400)) == 255
    assert index_of("x" * 242 + " " + "y" * 100) == "x" * 242 + "_raw_content"


def test_a_document_has_what_the_contract_names() -> None:
    written = document_of(document(html="<html>"))
    linked = METADATA["json_ld_data"]
    assert written == {
        "id": document().id,
        "url": "https://daily.test/story",
        "canonical_url": "https://daily.test/story",
        "source_name": "The Daily Test",
        "title": "A story",
        "raw_text": "Some words of\na story.",
        "raw_html": "<html>",
        "author": "A. Writer",
        "word_count": 5,
        "crawled_at": CRAWLED_AT,
        "published_date": document().fields["published_at"],
        "classification_status": "pending",
        "article_section": "World",
        "og_title": "A story, shared",
        "og_description": "Words",
        "og_image": "https://daily.test/1.jpg",
        "og_url": "https://daily.test/story",
        "og_type": "article",
        "meta_description": "Words",
        "meta_keywords": "one, two",
        "json_ld_data": linked,
        "meta": {
            "twitter_card": "summary",
            "twitter_site": "@daily",
            "og_site_name": "Daily",
            "article_opinion": "false",
            "article_content_tier": "free",
            "og_image_width": 1200,
            "og_image_height": 630,
            "created_at": CRAWLED_AT,
            "updated_at": CRAWLED_AT,
            "page_type": "article",
        },
    }


def test_the_id_is_the_hash_of_the_url() -> None:
    record = document()
    assert document_of(record)["id"] == record.key.hash.hex()


def test_words_are_counted_in_the_text_that_is_sent() -> None:
    assert document_of(document(text="  one\ttwo\nthree  ", word_count=99))["word_count"] == 3
    assert document_of(document(text=""))["word_count"] == 0


def test_what_is_empty_is_left_out_and_a_missing_date_is_null() -> None:
    bare = document_of(document(metadata={}, author="", section="", published_at=None, page_type=""))
    assert bare["published_date"] is None
    assert not {"raw_html", "author", "og_title", "article_section", "json_ld_data"} & set(bare)
    assert set(bare["meta"]) == {"created_at", "updated_at"}
    assert "raw_html" not in document_of(document(html=""))


def test_the_section_of_the_document_stands_in_for_that_of_the_page() -> None:
    assert document_of(document(metadata={}, section="Sport"))["article_section"] == "Sport"


@pytest.mark.parametrize(
    ("metadata", "lacks"),
    [
        ({"og_image": "data:" + "x" * LONGEST_TERM_BYTES}, "og_image"),
        ({"meta_keywords": "ж" * (LONGEST_TERM_BYTES // 2 + 1)}, "meta_keywords"),
        ({"og_audio": "not in the contract"}, "og_audio"),
        ({"version": 3}, "version"),
    ],
)
def test_a_field_that_would_cost_the_whole_document_is_left_out(metadata: dict[str, Any], lacks: str) -> None:
    assert lacks not in document_of(document(metadata=metadata))


def test_unknown_and_unfitting_parts_of_objects_are_left_out() -> None:
    linked = {"jsonld_word_count": 2**40, "jsonld_mood": "glad", "jsonld_raw": "text", "jsonld_headline": "H"}
    written = document_of(document(metadata={"json_ld_data": linked, "og_image_width": 2**31}))
    assert written["json_ld_data"] == {"jsonld_headline": "H"}
    assert "og_image_width" not in written["meta"]


def test_nothing_is_written_that_the_mapping_does_not_name() -> None:
    written = document_of(document(html="<html>"))
    properties = MAPPING["properties"]
    assert set(written) <= set(properties)
    assert set(written["json_ld_data"]) == set(properties["json_ld_data"]["properties"])
    assert set(written["meta"]) <= set(properties["meta"]["properties"])


def test_only_documents_are_for_it_and_a_place_follows_the_name_of_the_source() -> None:
    layout = RawContent()
    assert layout.takes == {RecordKind.DOCUMENT}
    assert layout.place_of(document(source=RecordSource(SOURCE.id, "New Name"))) == "new_name_raw_content"
    assert layout.searched(RecordKind.JOB) is None


def test_an_index_has_one_shard_and_remembers_deletions_for_an_hour() -> None:
    body = RawContent().index_at("x_raw_content").body
    assert body["settings"] == {"number_of_shards": 1, "number_of_replicas": 0, "index.gc_deletes": "1h"}
    assert body["mappings"]["dynamic"] == "strict"


def test_the_batch_of_our_last_send_is_read_from_the_servers_number() -> None:
    held = RawContent().held_record({"_id": "ab", "_index": "x_raw_content", "_version": 5 * 1_024 + 17})
    assert (held.id, held.place, held.batch_number) == ("ab", "x_raw_content", 5)


def test_differences_are_fields_that_lack_or_have_another_type() -> None:
    theirs = {
        "properties": {
            **MAPPING["properties"],
            "title": {"type": "keyword"},
            "meta": {"properties": {"twitter_card": {"type": "keyword"}}},
            "more": {"type": "text"},
        }
    }
    del theirs["properties"]["url"]
    found = list(differences(MAPPING, theirs))
    assert found[:2] == ["url", "title"]
    assert "meta.page_type" in found
    assert not list(differences(MAPPING, MAPPING))
