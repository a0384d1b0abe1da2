"""One description of a source's fields serves import, export and display."""

from dataclasses import fields, replace
from typing import Any

import pytest
from tests.unit.cli.test_source_fields import SET

from headwater.discover.importing import wanted_from
from headwater.sources.exchange.fields import FIELDS, Row, profile_fields_of, row_fields_of
from headwater.sources.exchange.reading import ListFormat, read_sources
from headwater.sources.exchange.writing import write_sources
from headwater.sources.source import Profile, SourceKind, SourceMode

PLAIN = Profile("https://a.example/")
IN_THE_HEAD: dict[str, Any] = {
    "url": "https://b.example/",
    "name": "B",
    "kind": SourceKind.DOCS,
    "priority": 7,
    "tags": ("x", "y"),
    "ingestion_mode": SourceMode.BOTH,
    "speaks_for": ("b.example",),
}


@pytest.mark.parametrize("name", [one.name for one in fields(Profile)])
def test_every_field_of_a_profile_leaves_in_a_file_and_comes_back(name: str) -> None:
    profile = replace(PLAIN, **{name: {**SET, **IN_THE_HEAD}[name]})
    written = "".join(write_sources([Row(line=1, **row_fields_of(profile))], ListFormat.CSV))
    [row] = read_sources(written.encode(), ListFormat.CSV).rows
    assert replace(PLAIN, **profile_fields_of(row)) == profile


def test_a_row_that_says_nothing_gets_the_defaults_of_a_profile() -> None:
    assert wanted_from(Row(1, "https://a.example/")).profile == PLAIN


def test_every_field_of_a_row_is_described() -> None:
    assert {one.name for one in FIELDS} == {one.name for one in fields(Row)} - {"line", "record"}
