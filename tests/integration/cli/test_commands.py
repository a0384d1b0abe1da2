"""Commands that need no database."""

import json
import re
import socket

import pytest
from tests.integration.cli.conftest import Person

from headwater import __version__

SECRET = "hunter2-and-more"
ADDRESS = f"postgresql://us:{SECRET}@127.0.0.1:9/nowhere"


@pytest.mark.long
def test_alone_it_says_what_to_try_next(person: Person) -> None:
    said = person.says()
    assert said.code == 0
    assert "headwater doctor" in said.out
    assert not person.data.exists(), "a greeting has no business with the disk"


def test_help_lists_every_group(person: Person) -> None:
    said = person.says("--help")
    assert said.code == 0
    assert {"config", "db", "demo", "doctor", "simweb"} <= set(re.findall(r"[a-z]+", said.out))


@pytest.mark.heavy_rows
@pytest.mark.parametrize("words", [("version",), ("--version",)])
def test_version_is_one_line(person: Person, words: tuple[str, ...]) -> None:
    assert person.says(*words).out == f"headwater {__version__}\n"


@pytest.mark.long
def test_every_exit_code_of_an_error_is_explained(person: Person) -> None:
    explained = {line.split()[0] for line in person.says("help", "exit-codes").out.splitlines()}
    assert {"0", "1", "2", "4", "5", "6", "7", "130"} <= explained


@pytest.mark.long
def test_an_unknown_command_is_named_and_is_a_usage_error(person: Person) -> None:
    said = person.says("frobnicate")
    assert said.code == 2
    assert "frobnicate" in said.err
    assert_a_person_can_read(said.err)


def test_config_show_names_the_origin_of_every_value(person: Person) -> None:
    (person.home / "headwater.toml").write_text('[log]\nlevel = "debug"\n')
    said = person.says("--set", "fetch.contact=mailto:a@example.org", "config", "show", "--json", WORKER_COUNT="7")
    shown = said.json
    assert shown["fetch.contact"] == {"value": "mailto:a@example.org", "origin": "flag"}
    assert shown["fetch.concurrency"] == {"value": "7", "origin": "environment WORKER_COUNT"}
    assert shown["log.level"] == {"value": "debug", "origin": "file headwater.toml: log.level"}
    assert shown["log.format"]["origin"] == "default"


def test_options_may_follow_the_command(person: Person) -> None:
    assert person.says("config", "get", "fetch.contact", "--set", "fetch.contact=mailto:b@example.org").out == (
        "mailto:b@example.org\n"
    )


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_config_show_masks_secrets(person: Person, form: tuple[str, ...]) -> None:
    said = person.says("config", "show", *form, HEADWATER_DATABASE__URL=ADDRESS)
    assert said.code == 0
    assert "database.url" in said.out
    assert SECRET not in said.out + said.err


def test_a_secret_in_a_file_is_used_and_not_shown(person: Person) -> None:
    file = person.home / "address"
    file.write_text(ADDRESS)
    said = person.says("db", "status", HEADWATER_DATABASE__URL_FILE=str(file))
    assert said.code == 5
    assert SECRET not in said.out + said.err


def test_a_misspelt_setting_gets_a_suggestion(person: Person) -> None:
    said = person.says("config", "show", HEADWATER_FETCH__CONTAC="x")
    assert said.code == 2
    assert "HEADWATER_FETCH__CONTACT?" in said.err
    assert_a_person_can_read(said.err)


def test_a_wrong_value_names_its_origin(person: Person) -> None:
    said = person.says("doctor", HEADWATER_FETCH__CONCURRENCY="lots")
    assert said.code == 2
    assert "'lots' (environment HEADWATER_FETCH__CONCURRENCY)" in said.err
    assert_a_person_can_read(said.err)


def test_a_settings_file_that_is_not_toml_is_named(person: Person) -> None:
    (person.home / "headwater.toml").write_text("level: debug\n")
    said = person.says("config", "check")
    assert said.code == 2
    assert "headwater.toml" in said.err
    assert_a_person_can_read(said.err)


def test_config_check_says_which_names_do_nothing(person: Person) -> None:
    (person.home / "old.ini").write_text("[planet]\ndays = 7\nrate_limit_burst = 5\n")
    said = person.says("--config", "old.ini", "config", "check", AIDJOBS_ENV="production", LOG_LEVEL="warn")
    assert said.code == 0
    assert "! planet.days in old.ini is ignored: " in said.out
    assert "! planet.rate_limit_burst in old.ini is ignored: only a host's own policy allows a burst" in said.out
    assert "3 of them set by you" in said.out  # the data directory, too


def test_an_unreachable_database_is_one_sentence_without_its_password(person: Person) -> None:
    said = person.says("db", "status", HEADWATER_DATABASE__URL=ADDRESS)
    assert said.code == 5
    assert SECRET not in said.out + said.err
    assert_a_person_can_read(said.err)


def test_a_data_directory_that_cannot_be_written_is_named(person: Person) -> None:
    (person.home / "file").touch()
    place = person.home / "file" / "data"
    said = person.says("doctor", HEADWATER_SERVICE__DATA_DIR=str(place))
    assert said.code == 1
    assert str(place) in said.out
    assert "Choose a data directory that you may write to." in said.out


def test_a_port_in_use_is_busy(person: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = person.says("simweb", "serve", "--publishers", "1", "--port", str(port))
    assert said.code == 7
    assert str(port) in said.err
    assert_a_person_can_read(said.err)


def test_messages_stay_out_of_the_data(person: Person) -> None:
    said = person.says("config", "show", "--json", SOURCE_MANAGER_URL="http://127.0.0.1:1/")
    assert set(json.loads(said.out)) >= {"log.level", "database.url"}


def test_config_path_names_the_file_that_is_read(person: Person) -> None:
    assert "none found" in person.says("config", "path").out
    (person.home / "headwater.toml").touch()
    assert person.says("config", "path").out.splitlines() == ["settings  headwater.toml", f"data      {person.data}"]


def assert_a_person_can_read(text: str) -> None:
    """What happened, and at most one line on how to mend it."""
    assert "Traceback" not in text
    assert text.startswith("headwater: ")
    assert len(text.strip().splitlines()) <= 2, text


def test_config_init_writes_a_file_that_is_read_and_changes_nothing(person: Person) -> None:
    said = person.says("config", "init")
    assert said.code == 0
    file = person.home / "headwater.toml"
    assert str(file) in said.out
    text = file.read_text("utf-8")
    assert "# contact = " in text
    before = person.says("config", "show", "--json").json
    assert {one["origin"] for one in before.values()} <= {"default", "environment HEADWATER_SERVICE__DATA_DIR"}
    assert (
        "/headwater.toml" in person.says("config", "path").out or "headwater.toml" in person.says("config", "path").out
    )


def test_every_line_that_config_init_offers_holds_once_it_is_uncommented(person: Person) -> None:
    person.says("config", "init")
    file = person.home / "headwater.toml"
    lines = [re.sub(r"^# (\w+ = )", r"\1", line) for line in file.read_text("utf-8").splitlines()]
    file.write_text("\n".join(lines))
    said = person.says("config", "check")
    assert (said.code, "settings are valid" in said.out) == (0, True), said.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("network.allow=nonsense/99",), "'nonsense/99' cannot be allowed"),
        (("network.allow=127.0.0.1:0",), "neither a port nor a range"),
        (("poll.min_interval=2h", "poll.max_interval=1h"), "(2h) is longer than poll.max_interval (1h)"),
        (("archive.raw_store=s3",), "no bucket is named"),
        (("database.embedded_version=17",), "input should be 16 or 18"),
    ],
)
def test_config_check_refuses_what_cannot_work(person: Person, words: tuple[str, ...], why: str) -> None:
    said = person.says(*(part for word in words for part in ("--set", word)), "config", "check")
    assert said.code == 2
    assert why in said.err
    assert_a_person_can_read(said.err)


def test_a_number_may_come_as_a_word(person: Person) -> None:
    assert (
        person.says("config", "get", "database.embedded_version", "--set", "database.embedded_version=16").out == "16\n"
    )


def test_config_init_never_overwrites(person: Person) -> None:
    file = person.home / "headwater.toml"
    file.write_text("# mine\n")
    said = person.says("config", "init")
    assert said.code == 2
    assert "There is a file" in said.err
    assert file.read_text("utf-8") == "# mine\n"


def test_config_init_writes_where_it_is_told(person: Person) -> None:
    assert person.says("config", "init", "elsewhere/headwater.toml").code == 0
    assert (person.home / "elsewhere" / "headwater.toml").exists()
    said = person.says("config", "init", "/proc/none/headwater.toml")
    assert (said.code, "Traceback" in said.err) == (2, False)
