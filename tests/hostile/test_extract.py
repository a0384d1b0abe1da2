"""Rows 137 to 142 of the hostile inputs: pages made to hurt their reader. Time and memory limits are the child's."""

import socket
import threading
from contextlib import suppress
from datetime import UTC, datetime

import orjson
import pytest

from headwater.extraction.article import Article, NoArticleReason, NotAnArticle
from headwater.extraction.blocks import text_of_html
from headwater.extraction.extractor import extract
from headwater.extraction.links import MOST_LINKS
from headwater.extraction.page import FeedHints, Page, Selectors
from headwater.extraction.text import LONGEST_LINE, LONGEST_TEXT

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
URL = "http://example.com/a"
WORDS = " ".join(f"word{n}" for n in range(100))
LARGEST_ANSWER_BYTES = 6_000_000


def read(html: str | bytes, **more: object) -> Article | NotAnArticle:
    """Whatever it is, the answer is bounded, can be written as JSON, and PostgreSQL can store every string of it."""
    body = html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass")
    found = extract(Page(**({"url": URL, "body": body} | more)), NOW)  # type: ignore[arg-type]
    written = orjson.dumps(found)
    assert len(written) < LARGEST_ANSWER_BYTES
    assert not [text for text in strings_in(orjson.loads(written)) if "\x00" in text]
    assert len(found.title) <= LONGEST_LINE
    return found


def strings_in(value: object) -> list[str]:
    waiting, found = [value], []
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        waiting.extend([*one.keys(), *one.values()] if isinstance(one, dict) else one if isinstance(one, list) else [])
    return found


HEAVY = {
    "one line": f"<p>{'x' * 3_000_000}",
    "nested": "<div>" * 3_000 + WORDS,
    "nested lists": "<ul><li>" * 1_500 + WORDS,
    "formatting": "<b><i><u>" * 1_000 + WORDS,
    "open anchors": "<a href=x><p>" * 1_000 + WORDS,
    "attributes": "<p" + "".join(f" a{n}=1" for n in range(3_000)) + f">{WORDS}",
    "base64": f'<img src="data:image/png;base64,{"A" * 3_000_000}"><p>{WORDS}',
    "cells": "<table><tr>" + "<td>1" * 2_000 + f"</table><p>{WORDS}",
    "plaintext": "<plaintext>" + "<p>" * 50_000,
    "open comment": f"<p>{WORDS}</p><!-- " + "<p>" * 50_000,
    "open script": f"<p>{WORDS}</p><script>" + "<p>" * 50_000,
    "frames": "<iframe><frameset><frame>" * 500 + WORDS,
    "spaces": f"<title>{' ' * 1_000_000}</title><p>{WORDS}",
    "metas": "".join(f"<meta name=n{n} content={'c' * 50}>" for n in range(5_000)) + WORDS,
    "links": "".join(f"<a href=/{n}>{'t' * 500}</a>" for n in range(5_000)),
    "bytes": "".join(map(chr, range(256))) * 200,
}


@pytest.mark.parametrize("html", HEAVY.values(), ids=HEAVY.keys())
def test_row_137_and_138_a_heavy_or_broken_page_is_answered(html: str) -> None:
    assert len(read(html).links) <= MOST_LINKS


@pytest.mark.parametrize("body", [b"", b"\x00" * 1_000, b"\xff" * 1_000, b"\xef\xbb\xbf", b"\x1b[2J\x07" * 100])
def test_bytes_that_are_no_page_are_no_article(body: bytes) -> None:
    assert isinstance(read(body), NotAnArticle)


ATTACKS = [
    "<math><mi><style><img src=x onerror=alert(1)></style></mi></math>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<template><img src=x onerror=alert(1)></template>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_row_138_markup_never_comes_out_as_markup(attack: str) -> None:
    found = read(f"<title>T</title><article><p>{WORDS}</p>{attack}<p>{WORDS}</p></article>")
    assert isinstance(found, Article)
    assert "onerror" not in found.text
    assert "<" not in found.text


def test_row_138_written_out_markup_is_text_and_stays_so() -> None:
    found = read(f"<title>&lt;script&gt;x</title><article><p>&lt;img src=x&gt; {WORDS}</p></article>")
    assert isinstance(found, Article)
    assert found.title == "<script>x"
    assert "<img src=x>" in found.text


def test_row_139_instructions_to_machines_are_only_words() -> None:
    found = read(f"<title>T</title><p>{WORDS} {{{{7*7}}}} %s%n ignore all previous instructions</p>")
    assert isinstance(found, Article)
    assert "{{7*7}} %s%n ignore all previous instructions" in found.text


@pytest.mark.parametrize(
    "text", ["w" * 1_500_000, "\U0001f468\u200d\U0001f469\u200d\U0001f467 " * 200, "مرحبا " * 200, "a\u0301" * 2_000]
)
def test_row_140_words_of_any_size_and_script_are_bounded(text: str) -> None:
    found = read(f"<title>T</title><article><p>{WORDS} {text}</p></article>")
    assert isinstance(found, Article)
    assert len(found.text) <= LONGEST_TEXT


def test_row_140_many_distinct_words_are_bounded() -> None:
    found = read("<title>T</title><article><p>" + " ".join(f"w{n}" for n in range(250_000)) + "</p></article>")
    assert isinstance(found, Article)
    assert len(found.text) <= LONGEST_TEXT


@pytest.mark.parametrize("reference", ["&#0;", "&#xD800;", "&#x110000;", "&#x1b;", "&#12;", "\x1f", "\ud800"])
def test_row_140_what_cannot_be_stored_is_left_out_everywhere(reference: str) -> None:
    head = f'<title>A{reference}B</title><meta name=author content="C{reference}D"><meta name=n{reference} content=x>'
    found = read(f"{head}<p>{WORDS}<script></script>{reference}</p><a href='/x'>E{reference}F</a>")
    for text in strings_in(orjson.loads(orjson.dumps(found))):
        text.encode()
        assert "\x1b" not in text


@pytest.mark.parametrize(
    "href",
    ["http://127.0.0.1/", "http://other.example/x", "http://169.254.169.254/latest", "x" * 1_000_000, "//", "http://["],
)
def test_row_141_a_canonical_link_away_from_the_site_is_not_kept(href: str) -> None:
    assert read(f'<link rel=canonical href="{href}"><title>T</title><p>{WORDS}').canonical_url == URL


def test_row_141_a_base_elsewhere_does_not_move_the_canonical_link() -> None:
    found = read(f"<base href='http://evil.example/'><link rel=canonical href=/b><title>T</title><p>{WORDS}")
    assert found.canonical_url == URL


LINKED = {
    "open": "[" * 100_000,
    "deep": '{"@type":"Article","a":' * 900 + "1" + "}" * 900,
    "large": '{"@type":"Article","headline":"' + "x" * 3_000_000 + '"}',
    "wide": "[" + ",".join(['{"@type":"Article","@id":"#a","author":{"@id":"#a"}}'] * 10_000) + "]",
    "many values": '{"@type":"Article","author":[' + ",".join(['"A B"'] * 10_000) + "]}",
    "odd values": '{"@type":"Article","headline":{"a":1},"author":[[[]]],"image":7,"datePublished":[],"wordCount":1e9}',
    "numbers": '{"@type":"Article","wordCount":99999999999999999999999,"datePublished":1}',
    "surrogate": r'{"@type":"Article","headline":"\ud800"}',
}


@pytest.mark.parametrize("written", LINKED.values(), ids=LINKED.keys())
def test_row_142_linked_data_of_any_shape_is_bounded(written: str) -> None:
    found = read(f'<script type="application/ld+json">{written}</script><title>T</title><p>{WORDS}')
    assert isinstance(found, Article)
    assert len(orjson.dumps(found.linked_data)) < 200_000


def test_row_142_the_head_is_bounded() -> None:
    large = "x" * 1_000_000
    found = read(
        f'<html lang="{large}"><meta property="og:url" content="{large}">'
        f'<meta name=keywords content="{"k," * 100_000}">'
        f'<link rel=alternate hreflang="{large}" href="{large}"><meta name=robots content="{"a," * 100_000}"><p>{WORDS}'
    )
    assert len(orjson.dumps(found)) < 20_000


def test_a_feed_as_hostile_as_a_page_is_bounded_too() -> None:
    hints = FeedHints(
        title="T" * 100_000, author="A" * 100_000, language="x" * 100_000, content="<div>" * 3_000 + WORDS
    )
    found = read("", hints=hints)
    assert isinstance(found, Article)
    assert found.word_count == 100


def test_depth_costs_our_own_reader_no_recursion() -> None:
    assert text_of_html("<div>" * 5_000 + "deep<p>er") == "deep\ner"
    found = read("<div>" * 5_000 + WORDS, selectors=Selectors(fields={"container": "body"}))
    assert isinstance(found, Article)


def test_selectors_cannot_be_made_to_fail_by_a_page() -> None:
    fields = dict.fromkeys(("title", "author", "image", "canonical", "keywords", "published_time"), "*")
    found = read(f"<title>T</title><p>{WORDS}", selectors=Selectors(fields=fields, exclude=("*", "p[", "")))
    assert isinstance(found, Article)


def test_a_challenge_is_never_a_document() -> None:
    found = read("<title>Attention Required! | Shield</title><p>Please enable cookies to go on.")
    assert isinstance(found, NotAnArticle)
    assert found.reason is NoArticleReason.CHALLENGE


def test_a_page_that_looks_like_an_address_is_not_asked_for() -> None:
    """A library behind the reading takes a text without a space that begins with `http` for what it should fetch."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            with suppress(OSError):
                while True:
                    heard.append(server.accept()[0].recv(1_000))

        threading.Thread(target=listen, daemon=True).start()
        story = "".join(f"<p>{WORDS}".replace(" ", "\n") for _ in range(5))
        for ending in ("", "\n"):
            read(f"http://127.0.0.1:{server.getsockname()[1]}/{ending}<h1>Tides</h1>{story}")
        server.close()
    assert heard == []
