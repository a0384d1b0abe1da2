"""The record of rights in what leaves: all layouts but the strict one, tables, events and feeds."""

import json

import orjson
from tests.unit.deliver.samples import document

from headwater.deliver.columns import row_of
from headwater.deliver.feeds.atom import entry_xml
from headwater.deliver.feeds.entries import FeedEntry, entry_of
from headwater.deliver.payload import fields_of
from headwater.deliver.sinks import raw_content, record_index
from headwater.deliver.sinks.meilisearch import DOCUMENTS_SETTINGS
from headwater.record_kind import RecordKind
from headwater.rights.record import Convention, PageUse, StatedIn, rights_as_dict, rights_from, statement

RIGHTS = rights_from(
    [
        statement(
            Convention.TDMREP,
            StatedIn.HEADER,
            "tdm-reservation: 1",
            refused=[PageUse.TDM],
            licence="https://a.example/l",
        ),
        statement(Convention.CONTENT_SIGNAL, StatedIn.ROBOTS, "search=yes", allowed=[PageUse.SEARCH]),
    ]
)
RECORD = document(rights=rights_as_dict(RIGHTS.marks, RIGHTS.said))


def test_our_own_layout_has_it_and_can_be_searched_by_it() -> None:
    assert record_index.document_of(RECORD)["rights"]["tdm"] == "refused"
    mapped = record_index.mapping_of(RecordKind.DOCUMENT)["properties"]["rights"]["properties"]
    assert {*RECORD.fields["rights"]} == {*mapped}
    assert {f"rights.{use}" for use in PageUse} <= {*DOCUMENTS_SETTINGS["filterableAttributes"]}


def test_the_strict_layout_does_not_have_it() -> None:
    assert "rights" not in json.dumps(raw_content.document_of(RECORD), default=str)
    assert "rights" not in raw_content.MAPPING["properties"]


def test_events_and_tables_have_it() -> None:
    assert orjson.loads(orjson.dumps(fields_of(RECORD, with_text=False)))["rights"] == RECORD.fields["rights"]
    assert row_of(RECORD)["rights"]["train"] == "refused"


def test_a_feed_says_it_in_a_line() -> None:
    entry = entry_of(RECORD)
    assert entry.rights == "train refused; search allowed; tdm refused; licence https://a.example/l"
    assert f"<rights>{entry.rights}</rights>" in entry_xml(entry)
    assert "<rights>" not in entry_xml(entry_of(document()))
    written = {name: value for name, value in entry.as_dict().items() if name != "rights"}
    moments = {name: written[name].isoformat() for name in ("published_at", "updated_at")}
    assert FeedEntry.from_dict(written | moments).rights == "", "as an earlier version left it"
