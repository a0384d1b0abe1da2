"""`headwater compare`: a list beside the archive, as a person who leaves an older system meets it."""

import gzip
import json
from pathlib import Path

import pytest
from tests.integration.archive.shelf import LONG, OTHER, key_of, page
from tests.integration.cli.desk import Desk, assert_a_sentence
from tests.integration.cli.test_docs import kept

from headwater.archive.documents import tombstone
from headwater.database.pool import Database

A, B, C, D = (f"https://a.example/{number}" for number in range(1, 5))
ELSEWHERE = "https://b.example/9"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    desk = Desk(database_url, open_folder)
    kept(desk, page(A, LONG, title="Tides"), page(B, OTHER, title="Wharves"), page(ELSEWHERE, f"{OTHER} {LONG}"))
    return desk


def listed(desk: Desk, text: str, name: str = "list") -> str:
    place = desk.home / name
    place.write_text(text)
    return str(place)


def test_a_list_that_says_what_the_archive_says_is_equal(desk: Desk) -> None:
    said = desk.says("compare", listed(desk, f"{A}\nHTTPS://A.example:443/2?utm_source=x\n"), "--json")
    assert (said.code, said.json) == (0, {"equal": True, "counts": {"same": 2}, "examples": {}})


def test_what_only_one_of_them_has_is_told_with_the_reason(desk: Desk) -> None:
    desk.says("frontier", "add", C)
    said = desk.says("compare", listed(desk, f"{A}\n{C}\n{D}\n{A}\nno address\n"), "--json")
    assert said.code == 1
    assert said.json["counts"] == {"only_archived": 1, "only_listed": 2, "repeated": 1, "same": 1, "unreadable": 1}
    found = said.json["examples"]
    assert [(one["url"], one["why"]) for one in found["only_listed"]] == [(C, "pending"), (D, "never found")]
    assert [(one["url"], one["archived_title"]) for one in found["only_archived"]] == [(B, "Wharves")]


def test_what_a_listed_page_redirects_to_stands_for_it(desk: Desk) -> None:
    desk.says("frontier", "add", C)
    desk.says("frontier", "add", D)
    for url, target in ((C, D), (D, B)):
        bucket, hash_ = key_of(url)
        desk.execute(
            "update url_frontier set status = 'dead', reason = 'redirect', moved_to = $3"
            " where bucket = $1 and url_hash = $2",
            bucket,
            hash_,
            target,
        )
    said = desk.says("compare", listed(desk, f"{A}\n{C}\n{D}\n"), "--json")
    assert (said.code, said.json["counts"]) == (0, {"same": 3})
    desk.execute("update url_frontier set moved_to = $1 where reason = 'redirect'", C)
    said = desk.says("compare", listed(desk, f"{A}\n{C}\n"), "--json")
    assert said.json["counts"] == {"same": 1, "only_listed": 1, "only_archived": 1}


def test_titles_and_texts_that_differ_are_told_and_how_far(desk: Desk) -> None:
    lines = [
        {"url": A, "title": "tides ", "text": LONG + " And one more."},
        {"url": B, "title": "Wharves of old", "text": "Nothing of the kind."},
    ]
    said = desk.says("compare", listed(desk, "\n".join(map(json.dumps, lines))), "--json")
    (differing,) = said.json["examples"]["differs"]
    assert (said.code, said.json["counts"]) == (1, {"differs": 1, "same": 1})
    assert (differing["url"], differing["why"], differing["archived_title"]) == (B, "title, text", "Wharves")
    assert differing["alike"] < 0.2
    strict = desk.says("compare", listed(desk, json.dumps(lines[0])), "--alike", "100", "--json").json
    assert strict["examples"]["differs"][0]["why"] == "text"


def test_other_hosts_and_older_documents_count_where_they_are_asked_for(desk: Desk) -> None:
    file = listed(desk, A)
    everything = desk.says("compare", file, "--everywhere", "--json").json["examples"]["only_archived"]
    assert {one["url"] for one in everything} == {B, ELSEWHERE}
    assert desk.says("compare", file, "--since", "7d", "--json").json["counts"] == {"only_archived": 1, "same": 1}
    assert desk.says("compare", file, "--since", "2090-01-01", "--json").json["counts"] == {"same": 1}


def test_a_document_is_found_under_the_address_that_its_page_calls_canonical(desk: Desk) -> None:
    kept(desk, page(C, LONG * 2))
    desk.execute(
        "update documents d set claimed_bucket = $3, claimed_hash = $4, claimed_url = $5, is_claim_believed = true,"
        " duplicate_bucket = o.bucket, duplicate_of = o.url_hash from documents o where d.url = $1 and o.url = $2",
        *(C, A, *key_of(D), D),
    )
    assert desk.says("compare", listed(desk, f"{A}\n{B}\n{D}\n"), "--json").json["counts"] == {"same": 3}


def test_what_was_withdrawn_is_missing_for_its_reason(desk: Desk) -> None:
    async def withdraw(database: Database) -> None:
        async with database.transaction() as connection:
            now = await connection.fetchval("select clock_timestamp()")
            await tombstone(connection, *key_of(A), "gone", now)

    desk.on_database(withdraw)
    said = desk.says("compare", listed(desk, A), "--json").json
    assert said["examples"]["only_listed"][0]["why"] == "withdrawn: gone"
    assert [one["url"] for one in said["examples"]["only_archived"]] == [B]


def test_every_difference_is_a_line_of_json_and_the_last_one_counts_them(desk: Desk) -> None:
    lines = desk.says("compare", listed(desk, f"{C}\n{D}"), "--all", "--json").out.splitlines()
    *found, whole = map(json.loads, lines)
    assert [one["difference"] for one in found] == ["only_listed"] * 2 + ["only_archived"] * 2
    assert whole == {"counts": {"only_archived": 2, "only_listed": 2}, "equal": False}


def test_a_person_reads_sentences(desk: Desk) -> None:
    said = desk.says("compare", listed(desk, f"{A}\n{C}"), "--limit", "1")
    assert "only listed:\n  https://a.example/3  (never found)" in said.out
    assert "✗ They differ." in said.out
    assert f"{C}  (never found)" in desk.says("compare", listed(desk, C), "--all").out


def test_a_packed_sitemap_is_a_list_and_a_broken_one_is_refused(desk: Desk) -> None:
    place = desk.home / "sitemap.xml.gz"
    place.write_bytes(gzip.compress(f"<urlset><url><loc>{A}</loc></url><url><loc>{B}</loc></url></urlset>".encode()))
    assert desk.says("compare", str(place)).code == 0
    place.write_bytes(place.read_bytes()[:-9])
    said = desk.says("compare", str(place))
    assert_a_sentence(said)
    assert said.code == 2


@pytest.mark.parametrize("words", [("none",), ("list", "--alike", "101"), ("list", "--since", "never")])
def test_nonsense_is_refused_with_a_sentence(desk: Desk, words: tuple[str, ...]) -> None:
    listed(desk, A)
    said = desk.says("compare", str(desk.home / words[0]), *words[1:])
    assert_a_sentence(said)
    assert said.code == 2
