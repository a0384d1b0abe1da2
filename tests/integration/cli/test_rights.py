"""Rights as a person meets them: filters of lists, searches and views, `docs show`, and every form of export."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.archive.shelf import LONG, OTHER
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.desk import assert_a_sentence
from tests.integration.cli.file_sink import installed_kinds

from headwater.rights.record import Convention, PageUse, Rights, StatedIn, rights_from, statement

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
LICENCE = "https://b.example/licence.xml"
FREE = rights_from([statement(Convention.CONTENT_USAGE, StatedIn.HEADER, "train-ai=y", allowed=[PageUse.TRAIN])])
CLOSED = rights_from(
    [
        statement(Convention.CONTENT_SIGNAL, StatedIn.ROBOTS, "ai-train=no", refused=[PageUse.TRAIN]),
        statement(Convention.RSL, StatedIn.PAGE, "licence", licence=LICENCE),
    ]
)


@pytest.fixture
def desk(database_url: str, open_folder: Path, tmp_path: Path) -> Iterator[DeliveryDesk]:
    with installed_kinds(tmp_path / "site", filed="tests.integration.cli.file_sink:FILED"):
        desk = DeliveryDesk(database_url, open_folder)
        desk.source()
        desk.keep(A, "Free", f"ferry {LONG}", rights=FREE)
        desk.keep(B, "Closed", f"ferry {OTHER}", rights=CLOSED)
        desk.keep(C, "Silent", f"ferry {LONG} {OTHER}")
        yield desk


def titles(desk: DeliveryDesk, *words: str) -> list[str]:
    found = desk.says(*words, "--json")
    assert found.code == 0, found.err
    return sorted(one["title"] for one in found.json.get("documents") or found.json.get("records") or [])


def of_all_ways(desk: DeliveryDesk, *rights: str) -> list[str]:
    """Without words, with words, and through a view: all say the same."""
    options = [word for one in rights for word in ("--rights", one)]
    listed = titles(desk, "docs", "list", *options)
    assert titles(desk, "docs", "search", "ferry", *options) == listed
    assert titles(desk, "docs", "search", *options) == listed
    desk.says("views", "add", "some", *options)
    assert titles(desk, "docs", "list", "--view", "some") == listed
    assert titles(desk, "docs", "search", "ferry", "--view", "some") == listed
    assert titles(desk, "views", "preview", "some") == listed
    desk.says("views", "rm", "some")
    return listed


@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        (("train=allowed",), ["Free"]),
        (("rights.train=refused",), ["Closed"]),
        (("train=unknown",), ["Silent"]),
        (("train=allowed", "tdm=unknown"), ["Free"]),
        (("train=allowed", "train=refused"), []),
        (("search=allowed",), []),
    ],
)
def test_filters_of_rights_hold_wherever_records_are_asked_for(
    desk: DeliveryDesk, rights: tuple[str, ...], expected: list[str]
) -> None:
    assert of_all_ways(desk, *rights) == expected


def test_what_is_no_filter_is_refused(desk: DeliveryDesk) -> None:
    for words in (("docs", "list"), ("docs", "search", "x"), ("views", "add", "some")):
        said = desk.says(*words, "--rights", "train=yes")
        assert said.code == 2
        assert_a_sentence(said)
        assert "train=allowed" in said.err


def test_a_view_of_rights_feeds_its_sink_and_follows_what_is_said_later(desk: DeliveryDesk) -> None:
    desk.says("views", "add", "free", "--rights", "train=allowed")
    assert "rights:" in desk.says("views", "show", "free").out
    desk.add("index", "filed", "--view", "free")
    desk.deliver()
    assert desk.titles() == {"Free": 1}
    desk.keep(A, "Free", f"ferry {LONG}", rights=CLOSED)
    desk.keep(C, "Silent", f"ferry {LONG} {OTHER}", rights=FREE)
    desk.deliver()
    assert desk.titles() == {"Silent": 2}
    desk.says("views", "edit", "free", "--rights", "train=refused")
    desk.deliver()
    assert desk.titles() == {"Free": 2, "Closed": 1}
    desk.says("views", "edit", "free", "--rights", "")
    assert desk.says("views", "show", "free").out.startswith("free: everything")


def test_a_document_is_shown_with_who_said_what(desk: DeliveryDesk) -> None:
    shown = desk.says("docs", "show", B).out
    assert "rights: train refused, input unknown, search unknown, tdm unknown, images unknown" in shown
    assert "robots.txt: ai-train=no" in shown
    assert "rights" not in desk.says("docs", "show", C).out
    told = desk.says("docs", "show", B, "--versions", "--json").json
    assert told["rights"]["statements"][0]["convention"] == "content-signal"
    assert told["versions"][0]["rights"]["train"] == "refused"


def test_a_version_keeps_what_was_said_then(desk: DeliveryDesk) -> None:
    desk.keep(A, "Free", f"ferry {LONG}", rights=Rights())
    past = desk.says("docs", "show", A, "--versions", "--json").json["versions"]
    assert [(one["version"], one["rights"]["train"]) for one in past] == [(2, "unknown"), (1, "allowed")]


def test_every_form_of_export_carries_it(desk: DeliveryDesk) -> None:
    lines = [json.loads(line) for line in desk.says("docs", "export").out.splitlines()]
    assert {one["title"]: one["rights"]["train"] for one in lines} == {
        "Free": "allowed",
        "Closed": "refused",
        "Silent": "unknown",
    }
    table = list(csv.DictReader(desk.says("docs", "export", "--format", "csv").out.splitlines()))
    assert {json.loads(one["rights"])["train"] for one in table} == {"allowed", "refused", "unknown"}
    desk.says("docs", "export", "--format", "markdown", "-o", str(desk.home / "pages"))
    pages = {page.name: page.read_text() for page in (desk.home / "pages").rglob("*.md")}
    front = next(text for name, text in pages.items() if "closed" in name)
    assert 'rights_train: "refused"' in front
    assert f'licences: ["{LICENCE}"]' in front
    atom = desk.says("docs", "export", "--format", "atom").out
    assert f"<rights>train refused; licence {LICENCE}</rights>" in atom
    assert atom.count("<rights>") == 2


def test_a_view_of_rights_holds_no_vacancy(desk: DeliveryDesk) -> None:
    """Nothing is known of their use, and unknown is not allowed."""
    from tests.integration.cli.test_views import keep_vacancies

    desk.on_database(keep_vacancies)
    desk.says("views", "add", "free", "--rights", "train=allowed")
    found: Any = desk.says("jobs", "list", "--view", "free", "--json").json
    assert found["jobs"] == []
