from headwater.discover.items import Item
from headwater.extraction.jobs.records import vacancy_listed


def test_nested_values_are_said_in_words() -> None:
    fields = {
        "location": {"city": "Goma", "country": "DRC", "id": 7},
        "sectors": ["Health", {"name": "WASH"}],
        "closingDate": "2026-09-14",
        "description": "<p>Care &amp; cure</p>",
        "surge": True,
    }
    found = vacancy_listed(Item(url="https://aid.test/jobs/1", title="Nurse", fields=fields))
    assert found.description == "Care & cure"
    assert found.facts == {
        "location": "Goma, DRC",
        "mission_tags": "Health, WASH",
        "deadline": "2026-09-14",
        "surge_required": "yes",
    }
