import io
import json
import logging

import pytest

from headwater.errors import QueryFailed
from headwater.log import Mask, hearing_libraries, log_broken, make_logger, sentence_of
from headwater.masking import Mode


def written(form: str = "json", **event: object) -> str:
    stream = io.StringIO()
    make_logger("info", form, secrets=["hunter2-canary"], stream=stream).info("poll_failed", **event)  # type: ignore[arg-type]
    return stream.getvalue()


def test_a_line_is_one_json_object_with_level_and_time() -> None:
    line = json.loads(written(source="s1", retry_in_seconds=3.5))
    assert line["event"] == "poll_failed"
    assert line["level"] == "info"
    assert line["retry_in_seconds"] == 3.5
    assert line["at"].endswith("Z")


@pytest.mark.parametrize("form", ["json", "console"])
def test_secrets_never_get_through(form: str) -> None:
    text = written(
        form,
        url="postgresql://me:pw1@db/x",
        api_key="pw2",
        headers={"Authorization": "pw3", "nested": ["hunter2-canary", "http://u:pw4@h/"]},
        message="refused hunter2-canary",
        admin_password="pw5",
    )
    for secret in ("pw1", "pw2", "pw3", "pw4", "pw5", "hunter2-canary"):
        assert secret not in text


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("hostile", ["a\r\nINFO forged", "\x1b]0;title\x07", "x\u2028y", "\u202egnp.exe", "nul\x00"])
def test_hostile_text_cannot_start_a_line_or_drive_a_terminal(form: str, hostile: str) -> None:
    text = written(form, title=hostile)
    assert text.count("\n") == 1
    assert not any(character in text for character in "\r\x1b\x07\u2028\u202e\x00")


def test_a_megabyte_is_cut_and_says_so() -> None:
    assert "1,000,000 characters" in Mask().text("x" * 1_000_000)


def test_below_the_level_nothing_is_written() -> None:
    stream = io.StringIO()
    make_logger("warning", "json", stream=stream).info("poll_done")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["json", "console"])
def test_hostile_names_and_invisible_letters_are_escaped_too(form: str) -> None:
    """Input 126: in a URL, a title, a user agent, and in the names of a mapping."""
    hostile = "a\r\nb\x1b]0;x\x07\u2028\x85\x9b2J\u061c\ufeff\U000e0041\ud800\x00"
    text = written(form, url=hostile, title=hostile, user_agent=hostile, headers={hostile: [hostile]})
    assert text.count("\n") == 1
    assert not [letter for letter in text[:-1] if not letter.isprintable() and letter != "\x1b"]
    assert "\x1b]" not in text


def test_what_a_library_logs_is_one_line_of_ours() -> None:
    stream = io.StringIO()
    with hearing_libraries(make_logger("info", "json", secrets=["hunter2-canary"], stream=stream)):
        try:
            raise OSError("refused\nhunter2-canary")
        except OSError:
            logging.getLogger("some.library").exception("could not %s", "connect")
    logging.getLogger("some.library").debug("not heard")
    assert stream.getvalue().count("\n") == 1
    line = json.loads(stream.getvalue())
    assert (line["event"], line["library"], line["level"]) == ("library_said", "some.library", "error")
    assert line["message"] == "could not connect"
    assert "hunter2-canary" not in line["error"]


def test_a_person_at_a_terminal_reads_sentences() -> None:
    event = {"at": "2026-11-16T09:33:13.509804Z", "level": "warning", "event": "poll_failed", "host": "a.example"}
    told = sentence_of({**event, "errors": 1, "found": 0, "source": "4c7b", "message": "dns_not_found: no name"})
    assert told == "09:33:13 ! poll failed: a.example: there is no such name: no name"
    broken = sentence_of({**event, "exception": "Traceback (most recent call last):\\u000a  x\\u000aKeyError: 'a'"})
    assert broken.endswith("a.example: KeyError: 'a'")


def broken_line(mode: Mode, error: Exception) -> str:
    stream = io.StringIO()
    try:
        raise error
    except (KeyError, QueryFailed) as raised:
        log_broken(make_logger("info", "json", stream=stream, mode=mode), "poll_broke", raised)
    return stream.getvalue()


def test_production_tells_an_unforeseen_error_without_its_words_and_development_whole() -> None:
    fault = KeyError("a line of somebody's page")
    assert json.loads(broken_line("prod", fault))["exception"] == "KeyError"
    told = broken_line("dev", fault)
    assert "Traceback" in told
    assert "somebody's page" in told


def test_production_tells_a_refused_statement_without_its_name_and_rows() -> None:
    what = "PostgreSQL refused keep_page: duplicate key\nDETAIL:  Key (url)=(http://a.test/secret) already exists."
    error = QueryFailed(what, sqlstate="23505", query="keep_page")
    line = json.loads(broken_line("prod", error))
    assert (line["error"], line["sqlstate"]) == ("PostgreSQL refused a statement: duplicate key", "23505")
    assert "query" not in line
    detailed = json.loads(broken_line("dev", error))
    assert detailed["query"] == "keep_page"
    assert "a.test/secret" in detailed["error"]


def test_production_tells_no_address_inside_but_in_urls_and_never_credentials() -> None:
    error = QueryFailed("The database postgresql://me:pw@10.0.0.7:5432/x and [fd00::7] do not answer, 9.9.9.9 does")
    assert json.loads(broken_line("prod", error))["error"] == (
        "The database postgresql://***@10.0.0.7:5432/x and (internal address) do not answer, 9.9.9.9 does"
    )
    assert "fd00::7" in broken_line("dev", error)
    named = QueryFailed("'http://[fd00::7]:9200/': Connect call failed ('10.0.0.7', 9200)")
    assert json.loads(broken_line("prod", named))["error"] == (
        "'http://[fd00::7]:9200/': Connect call failed ('(internal address)', 9200)"
    )
