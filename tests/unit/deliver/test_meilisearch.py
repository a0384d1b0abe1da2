import pytest
from pydantic import ValidationError
from tests.integration.deliver.made import made_record

from headwater.deliver.sinks.meilisearch import (
    DOCUMENTS_SETTINGS,
    JOBS_SETTINGS,
    MeilisearchOptions,
    document_of,
    settings_missing,
)
from headwater.record_kind import RecordKind


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"jobs_index": "", "documents_index": ""}, "both empty"),
        ({"jobs_index": "all", "documents_index": "all"}, "the same"),
        ({"jobs_index": "jobs/1"}, "no name of an index"),
        ({"api_key": "sesame"}, "names a secret"),
    ],
)
def test_options_are_checked_when_the_sink_is_added(options: dict[str, str], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        MeilisearchOptions.model_validate({"url": "http://localhost:7700"} | options)


def test_more_settings_than_ours_are_fine() -> None:
    found = {
        "searchableAttributes": ["*"],
        "filterableAttributes": [{"attributePatterns": DOCUMENTS_SETTINGS["filterableAttributes"]}, "more"],
        "sortableAttributes": [*reversed(DOCUMENTS_SETTINGS["sortableAttributes"]), "title"],
        "distinctAttribute": "url",
    }
    assert settings_missing(DOCUMENTS_SETTINGS, found) == {}
    assert settings_missing(JOBS_SETTINGS, found).keys() == {
        "filterableAttributes",
        "sortableAttributes",
        "distinctAttribute",
    }


@pytest.mark.parametrize("kind", list(RecordKind))
def test_keys_of_publishers_become_no_fields(kind: RecordKind) -> None:
    fields = document_of(made_record("a", kind))
    assert fields.keys() & {"metadata", "raw_metadata"} == set()
    assert f"{fields['id_prefix']:013x}" == fields["id"][:13]
    assert float(fields["id_prefix"]) == fields["id_prefix"]
