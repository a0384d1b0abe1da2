"""`headwater takedown add` asks before it removes the documents of a whole site."""

from pathlib import Path

import pytest
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.desk import assert_a_sentence

A, SECOND = "https://a.example/1", "https://news.a.example/2"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> DeliveryDesk:
    desk = DeliveryDesk(database_url, open_folder)
    desk.source()
    desk.says("frontier", "add", A, SECOND, "https://a.example:8080/3")
    desk.keep(A, "First")
    desk.keep(SECOND, "Second", "Another text, about other things.")
    return desk


def test_a_domain_with_documents_is_taken_down_only_with_consent(desk: DeliveryDesk) -> None:
    said = desk.says("takedown", "add", "a.example")
    assert said.code == 2
    assert_a_sentence(said)
    assert "Take a.example down? 2 documents and 3 queued URLs would be removed." in said.err
    assert "fix: Add --yes." in said.err
    assert desk.value("SELECT count(*) FROM takedowns") == 0
    said = desk.says("takedown", "add", "a.example", "--yes")
    assert (said.code, said.out) == (
        0,
        "a.example is taken down; 3 URLs ended, 2 documents and 0 vacancies withdrawn.\n",
    )
    assert desk.says("takedown", "add", "a.example").code == 0, "nothing of it is left that could be removed"


def test_a_port_with_documents_is_asked_about_too(desk: DeliveryDesk) -> None:
    assert "1 document and 2 queued URLs would be removed." in desk.says("takedown", "add", "a.example:443").err


@pytest.mark.parametrize("place", ["b.example", "a.example:8080", "https://a.example/1", "notnews.a.example"])
def test_a_place_without_documents_and_single_pages_need_no_consent(desk: DeliveryDesk, place: str) -> None:
    assert desk.says("takedown", "add", place).code == 0
