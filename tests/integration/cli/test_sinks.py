"""`headwater sinks`: added, shown, tried, paused, filled, compared and removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.archive.shelf import OTHER
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.desk import assert_a_sentence
from tests.integration.cli.file_sink import installed_kinds

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"


@pytest.fixture
def desk(database_url: str, open_folder: Path, tmp_path: Path) -> Iterator[DeliveryDesk]:
    place = "tests.integration.cli.file_sink"
    with installed_kinds(tmp_path / "site", filed=f"{place}:FILED", told=f"{place}:TOLD", broken="no_such_module:KIND"):
        desk = DeliveryDesk(database_url, open_folder)
        desk.source()
        yield desk


def test_without_a_sink_the_list_says_how_to_add_one(desk: DeliveryDesk) -> None:
    said = desk.says("sinks", "list")
    assert (said.code, said.out) == (0, "")
    assert "headwater sinks add changes --type jsonl" in said.err


def test_types_are_listed_with_their_options_and_a_broken_one_says_why(desk: DeliveryDesk) -> None:
    said = desk.says("sinks", "types")
    assert "filed: Records in a file. It is filled from the archive first." in said.out
    assert "  file: Where the records stand. (must be given)" in said.out
    assert "  by_source: A place for each source. (default no)" in said.out
    assert "broken: A sink of the type 'broken' cannot be used: No module named 'no_such_module'." in said.out
    told = desk.says("sinks", "types", "told", "--json").json["types"][0]
    assert (told["is_events"], told["forgets_not"]) == (True, "What was told stays told.")
    assert desk.says("sinks", "types", "nothing").code == 4


def test_a_store_is_filled_and_then_follows(desk: DeliveryDesk) -> None:
    desk.keep(A, "First")
    said = desk.add()
    assert said.code == 0, said.err
    assert "index is added and is being filled from the archive." in said.out
    assert "index.json can be written." in said.out
    desk.deliver()
    desk.keep(B, "Second", OTHER)
    shown = desk.says("sinks", "list", "--json").json["sinks"][0]
    assert (shown["name"], shown["standing"], shown["type"], shown["view_name"]) == (
        "index",
        "up to date",
        "filed",
        None,
    )
    desk.deliver()
    assert desk.titles() == {"First": 1, "Second": 1}
    row = desk.says("sinks", "list").out.splitlines()[1].split()
    assert row[:5] == ["index", "up", "to", "date", "0"]
    assert desk.says("sinks", "show", "index").out.startswith("index: up to date\n")


def test_a_stream_of_events_begins_at_the_end_of_the_log_unless_asked_for_all(desk: DeliveryDesk) -> None:
    desk.keep(A, "First")
    desk.deliver()
    said = desk.add("stream", "told")
    assert "stream is added and gets every change from now on." in said.out
    assert "What was told stays told." in said.err
    desk.add("whole", "told", "--from-archive")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    assert desk.titles("stream") == {"Second": 1}
    assert desk.titles("whole") == {"First": 1, "Second": 1}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "needs the option 'file'. Where the records stand."),
        (["file=x", "kinds=a,b", "fil=y"], "has no option 'fil'."),
        (["file=x", "by_source=perhaps"], "The option 'by_source' is not usable: input should be a valid boolean"),
        (["file=x", "key=hunter2"], "The option 'key' names a secret as env:NAME or file:/path"),
        (["hunter2"], "An option of a sink has no value."),
    ],
)
def test_options_are_refused_in_our_words_and_never_repeated(desk: DeliveryDesk, options: list[str], says: str) -> None:
    said = desk.says("sinks", "add", "index", "--type", "filed", *options)
    assert said.code == 2
    assert_a_sentence(said)
    assert says in said.err
    assert "hunter2" not in said.err
    assert "  fix: " in said.err
    assert desk.value("SELECT count(*) FROM sinks") == 0


def test_names_types_and_views_that_do_not_exist_are_refused(desk: DeliveryDesk) -> None:
    assert desk.add("Big Index").code == 2
    assert "Types are: " in desk.says("sinks", "add", "index", "--type", "nothing").err
    assert desk.add("index", "filed", "--view", "nothing").code == 4
    assert desk.add("index").code == 0
    assert "There is a sink 'index' already." in desk.add("index").err
    assert desk.says("sinks", "show", "other").code == 4


def test_a_sink_that_does_not_answer_is_added_with_a_warning_and_is_shown_as_down(desk: DeliveryDesk) -> None:
    down = desk.beside("index", "down", "Connection refused.")
    said = desk.add()
    assert said.code == 0
    assert "Warning: it could not be tried. Connection refused. Start it." in said.err
    tried = desk.says("sinks", "test", "index")
    assert (tried.code, tried.err) == (5, "headwater: Connection refused.\n  fix: Start it.\n")
    desk.keep(A, "First")
    desk.deliver()
    shown = desk.says("sinks", "show", "index").out
    assert shown.startswith("index: retrying\n")
    assert "Connection refused. Start it. (1 failure in a row" in shown
    down.unlink()
    assert desk.says("sinks", "test", "index").out == "index: index.json can be written.\n"
    desk.deliver()
    assert desk.titles() == {"First": 1}


def test_a_paused_sink_goes_on_where_it_stood(desk: DeliveryDesk) -> None:
    desk.add()
    desk.deliver()
    assert desk.says("sinks", "pause", "index", "--reason", "moving house").code == 0
    desk.keep(A, "First")
    desk.deliver()
    assert desk.titles() == {}
    assert desk.says("sinks", "show", "index").out.startswith("index: paused: moving house\n")
    assert "1, for " in desk.says("sinks", "list").out
    assert desk.says("sinks", "resume", "index").out == "index goes on, with 1 change to send.\n"
    desk.deliver()
    assert desk.titles() == {"First": 1}


def test_what_a_sink_refused_is_shown_in_its_own_words_and_tried_again(desk: DeliveryDesk) -> None:
    desk.add()
    assert "refused nothing" in desk.says("sinks", "retry", "index").err
    refused = desk.beside("index", "refused", "First")
    desk.keep(A, "First")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    desk.execute("UPDATE delivery_failures SET next_try_at = NULL")
    shown = desk.says("sinks", "show", "index")
    assert "1 parked, 0 to be tried again" in shown.out
    assert "mapper_parsing_exception: no such field" in shown.out
    assert "headwater sinks retry index" in shown.err
    failed = desk.says("sinks", "show", "index", "--json").json["failed_records"][0]
    assert (failed["next_try_at"], failed["kind"], len(failed["id"])) == (None, "document", 64)
    refused.unlink()
    assert desk.says("sinks", "retry", "index").out.startswith("1 record will be tried again")
    desk.deliver()
    assert desk.titles() == {"First": 1, "Second": 1}


def test_a_rebuild_asks_and_says_what_it_costs(desk: DeliveryDesk) -> None:
    desk.add("index", "filed", "layout=raw_content")
    desk.keep(A, "First")
    desk.deliver()
    desk.file_of("index").unlink()
    said = desk.says("sinks", "rebuild", "index")
    assert said.code == 2
    assert "classification_status is pending again" in said.err
    assert desk.says("sinks", "rebuild", "index", "--yes").code == 0
    assert desk.says("sinks", "show", "index").out.startswith("index: filling 0%\n")
    desk.deliver()
    assert desk.titles() == {"First": 1}


def test_a_sink_that_is_removed_keeps_what_it_has(desk: DeliveryDesk) -> None:
    desk.add()
    desk.keep(A, "First")
    desk.deliver()
    assert desk.says("sinks", "rm", "index").code == 2
    desk.execute("UPDATE sinks SET set_by = 'search.elasticsearch_url'")
    said = desk.says("sinks", "rm", "index", "--yes")
    assert said.out == "index is removed. Nothing was deleted there: it holds what it was sent.\n"
    assert "search.elasticsearch_url: unset it" in said.err
    assert desk.titles() == {"First": 1}
    assert desk.says("sinks", "list", "--json").json["sinks"] == []


def test_verify_tells_what_differs_and_mends_it(desk: DeliveryDesk) -> None:
    desk.add()
    desk.keep(A, "First")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    said = desk.says("sinks", "verify", "index")
    assert (said.code, said.out.splitlines()[-1]) == (0, "They are equal.")
    desk.file_of("index").unlink()
    said = desk.says("sinks", "verify", "index")
    assert said.code == 1
    assert "  2 records missing\n" in said.out
    assert "headwater sinks verify index --mend" in said.err
    found = desk.says("sinks", "verify", "index", "--mend", "--json")
    assert found.code == 1
    assert (found.json["differences"], found.json["mended"], found.json["is_asked"]) == ({"missing": 2}, 2, True)
    desk.deliver()
    assert desk.says("sinks", "verify", "index").code == 0
    assert desk.titles() == {"First": 1, "Second": 1}


def test_the_audit_compares_every_sink_and_is_red_for_one_that_is_away(desk: DeliveryDesk) -> None:
    assert "There are no sinks" in desk.says("audit", "delivery").out
    desk.add("index")
    desk.add("other")
    desk.keep("https://gazette.example/1", "One")
    desk.deliver()
    said = desk.says("audit", "delivery")
    assert (said.code, said.out.count("✓ equal")) == (0, 2), said
    desk.beside("other", "down", "Connection refused.")
    said = desk.says("audit", "delivery")
    assert (said.code, said.out.count("✓ equal")) == (1, 1), said
    assert "✗ could not be asked: Connection refused." in said.out
    checked = desk.says("audit", "delivery", "--json").json
    assert (checked["equal"], [one["name"] for one in checked["sinks"]]) == (False, ["index", "other"])


def test_verify_compares_a_sink_that_cannot_be_asked_with_what_was_delivered(desk: DeliveryDesk) -> None:
    desk.keep(A, "First")
    desk.deliver()
    desk.add("stream", "told")
    desk.execute("UPDATE sinks SET created_at = (SELECT changed_at + interval '1 ms' FROM documents)")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    said = desk.says("sinks", "verify", "stream")
    assert said.code == 0, said.out
    assert "cannot say what it holds" in said.out


@pytest.mark.long
def test_a_parked_record_makes_verify_red(desk: DeliveryDesk) -> None:
    desk.add()
    desk.beside("index", "refused", "First")
    desk.keep(A, "First")
    desk.deliver()
    assert desk.says("sinks", "verify", "index").code == 0, "it is tried again by itself"
    desk.execute("UPDATE delivery_failures SET next_try_at = NULL")
    said = desk.says("sinks", "verify", "index")
    assert said.code == 1
    assert "1 record parked. See why: headwater sinks show index" in said.out
