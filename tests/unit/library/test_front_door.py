"""`import headwater`: what a program of another person gets, and what it is told."""

import doctest
import inspect
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import FrozenInstanceError, is_dataclass
from datetime import timedelta
from pathlib import Path

import pytest

import headwater

ROOT = Path(__file__).parents[3]
FEED = "<rss><channel><title>T</title><item><title>One</title><link>/1</link></item></channel></rss>"
STORY = "<title>A story of tides</title><article>" + "<p>The tide tables were printed this week. " * 20 + "</article>"
URL = "https://news.example/1"
# Libraries that take long to load: none is needed before the first call.
HEAVY = {
    "asyncio",
    "asyncpg",
    "aiohttp",
    "lxml",
    "trafilatura",
    "selectolax",
    "pydantic",
    "numpy",
    "orjson",
    "structlog",
}
MOST_MODULES = 100
MOST_SECONDS = 0.2


def run(code: str) -> str:
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


def test_the_import_loads_no_heavy_library_and_takes_little_time() -> None:
    code = "import sys, time; before, began = set(sys.modules), time.process_time(); import headwater; "
    code += "print(time.process_time() - began, *(set(sys.modules) - before))"
    seconds, *modules = run(code).split()
    assert HEAVY.isdisjoint(modules)
    assert len(modules) < MOST_MODULES
    assert float(seconds) < MOST_SECONDS


def test_every_public_name_exists_and_says_what_it_is_for() -> None:
    assert sorted(headwater.__all__) == headwater.__all__
    silent = [name for name in headwater.__all__ if name != "__version__" and not is_described(name)]
    assert not silent


def is_described(name: str) -> bool:
    value = getattr(headwater, name)
    # The tree of errors is told as a whole, in the module's docstring.
    return bool(value.__doc__) or (inspect.isclass(value) and issubclass(value, headwater.HeadwaterError))


def test_no_internal_type_gets_out() -> None:
    public = [getattr(headwater, name) for name in headwater.__all__]
    values = [value for value in public if inspect.isclass(value) and is_dataclass(value)]
    named = {word for value in values for kind in hints_of(value) for word in re.findall(r"[\w.]+", kind)}
    assert {word for word in named if word.startswith("headwater")} <= {
        f"{value.__module__}.{value.__name__}" for value in (*values, headwater.RobotsRule)
    }


def hints_of(value: type) -> list[str]:
    return [str(kind) for kind in value.__annotations__.values()]


@pytest.mark.long
def test_the_function_stays_a_function_whatever_is_imported_afterwards() -> None:
    """The package of the extractor has the same name."""
    assert (
        run(
            "import headwater.extraction.page, headwater.services, headwater.cli.app\n"
            "import headwater; print(headwater.extract('<title>x</title>', 'https://a.example/').title)"
        )
        == "x"
    )


def test_a_page_is_read_from_text_and_from_bytes_alike() -> None:
    read = headwater.extract(STORY, URL)
    assert read == headwater.extract(STORY.encode(), URL)
    assert (read.is_article, read.title, read.language, read.word_count) == (True, "A story of tides", "en", 140)


def test_bytes_are_decoded_by_their_header() -> None:
    body = "<title>Ебб тиде</title>".encode("koi8-r")
    assert headwater.extract(body, URL, content_type="text/html; charset=koi8-r").title == "Ебб тиде"


def test_text_is_not_decoded_a_second_time() -> None:
    assert headwater.extract("<meta charset=koi8-r><title>Ебб тиде</title>", URL).title == "Ебб тиде"
    feed = f'<?xml version="1.0" encoding="iso-8859-1"?>{FEED.replace("One", "Öl")}'
    assert headwater.read_feed(feed, url=URL).items[0].title == "Öl"


def test_values_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        headwater.canonicalise(URL).url = "other"  # type: ignore[misc]


def test_a_feed_has_its_items_and_its_wishes() -> None:
    feed = headwater.read_feed(FEED.replace("<item>", "<ttl>60</ttl><item>"), url="https://news.example/feed")
    assert (feed.title, feed.ttl, feed.items[0].url) == ("T", timedelta(hours=1), "https://news.example/1")


def test_a_robots_txt_answers_for_urls_and_paths_in_one_spelling() -> None:
    rules = headwater.robots(
        b"User-agent: examplebot\nDisallow: /caf%C3%A9\nUser-agent: *\nDisallow: /", "ExampleBot/2"
    )
    asked = ("/café", "https://news.example/caf%c3%a9/x", "/tea", "")
    assert [rules.allows(url) for url in asked] == [False, False, True, True]
    assert not headwater.robots("User-agent: *\nDisallow: /", "other").allows(URL)


@pytest.mark.parametrize(
    "call",
    [
        lambda: headwater.extract(None, URL),  # type: ignore[arg-type]
        lambda: headwater.extract(STORY, None),  # type: ignore[arg-type]
        lambda: headwater.extract(STORY, "mailto:a@b.example"),
        lambda: headwater.extract("x" * 10_000_001, URL),
        lambda: headwater.extract(STORY, URL, timezone=5),  # type: ignore[arg-type]
        lambda: headwater.read_feed(b""),
        lambda: headwater.read_feed(STORY),
        lambda: headwater.read_feed("{}"),
        lambda: headwater.read_feed(FEED, url="nowhere"),
        lambda: headwater.read_feed(7),  # type: ignore[arg-type]
        lambda: headwater.canonicalise("nowhere"),
        lambda: headwater.canonicalise(7),  # type: ignore[arg-type]
        lambda: headwater.robots("", ""),
        lambda: headwater.robots(None, "a"),  # type: ignore[arg-type]
        lambda: headwater.robots("", "a").allows("ftp://a.example/"),
        lambda: headwater.read_vacancies(STORY, "nowhere"),
        lambda: headwater.open("/nowhere/headwater.toml"),
        lambda: headwater.open(settings={"no.such": "setting"}),
    ],
)
def test_wrong_input_is_a_sentence(call: object) -> None:
    assert callable(call)
    with pytest.raises(headwater.HeadwaterError) as told:
        call()
    assert str(told.value).endswith(".")


@pytest.mark.parametrize(
    "html",
    [
        "",
        "\0" * 50,
        "<" * 5_000,
        "<p>" * 20_000,
        "\ud800<title>x</title>",
        "<svg><a>" * 3_000,
        b"\xff\xfe\x00\xd8" * 99,
    ],
    ids=lambda html: repr(html[:8]),
)
def test_a_hostile_page_is_read_or_refused(html: str | bytes) -> None:
    with suppress(headwater.UnreadableInput):
        assert headwater.extract(html, URL).url == URL


def test_an_error_of_a_parser_does_not_get_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.library import pages

    def broken(*_: object) -> None:
        raise RecursionError("deep inside of a library")

    monkeypatch.setattr(pages, "extract", broken)
    with pytest.raises(headwater.UnreadableInput, match="RecursionError") as told:
        headwater.extract(STORY, URL)
    assert isinstance(told.value.__cause__, RecursionError)


def test_a_traceback_says_what_to_do() -> None:
    code = "import headwater; headwater.robots('', '7')"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-2:] == [
        "headwater.errors.UsageError: The agent has no product token.",
        "fix: Begin it with letters, as `examplebot` or `ExampleBot/1.0`.",
    ]


def test_the_example_is_short_and_runs() -> None:
    example = ROOT / "examples" / "library.py"
    assert len(example.read_text("utf-8").splitlines()) < 20
    done = subprocess.run((sys.executable, example), capture_output=True, text=True, check=True)
    assert done.stdout == "https://news.example/tides · Tide tables printed · 140 words in en\n"


def test_the_examples_of_the_page_are_true() -> None:
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if block.startswith(">>>")]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "library.md", "library.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert len(test.examples) > 15
    assert runner.run(test).failed == 0


def test_the_page_names_every_public_function_and_error() -> None:
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    names = [name for name in headwater.__all__ if name.islower() and name != "__version__"]
    assert not [name for name in names if name not in page]
