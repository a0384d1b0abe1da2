"""Facets through the API and in the console: counted, chosen, refused, and inert where others named them."""

import asyncio
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.integration.archive.shelf import SOURCE, Shelf
from tests.integration.search.facets import EVERY, add_source, at, keep_pages
from tests.integration.serve.callers import ApiCaller, Reply
from tests.integration.serve.console.test_archive_pages import HOSTILE, assert_inert

from headwater.client import Client

ALL = ",".join(EVERY)
HIDDEN = re.compile(rb'<input type="hidden"[^>]*>')


@pytest.fixture
async def shelf(api: ApiCaller) -> Shelf:
    return Shelf(api.services.database)


async def counts(api: ApiCaller, query: str) -> dict[str, dict[str, int]]:
    told = (await api.get(f"search?{query}")).json["facets"]["counts"]
    return {one["facet"]: {value["name"]: value["count"] for value in one["values"]} for one in told}


async def test_a_plain_search_counts_nothing(api: ApiCaller, shelf: Shelf) -> None:
    await keep_pages(shelf)
    for query in ("q=budget", "q=budget&facets=", "q=budget&facets=,%20,"):
        assert (await api.get(f"search?{query}")).json["facets"] is None


async def test_facets_are_of_all_pages_and_in_the_order_they_were_asked_for(api: ApiCaller, shelf: Shelf) -> None:
    await keep_pages(shelf)
    first = (await api.get("search?q=budget&facets=language,%20Source&facets=month&limit=2")).json
    assert [one["facet"] for one in first["facets"]["counts"]] == ["language", "source", "month"]
    assert (first["facets"]["counted"], first["facets"]["is_complete"]) == (5, True)
    assert first["facets"]["counts"][1] == {
        "facet": "source",
        "values": [
            {"value": str(SOURCE), "name": "The Gazette", "count": 3},
            {"value": first["facets"]["counts"][1]["values"][1]["value"], "name": "Die Zeitung", "count": 1},
        ],
        "others": 1,
        "is_exact": True,
    }
    asked = "search?q=budget&facets=language,source,month&limit=2"
    second = (await api.get(f"{asked}&cursor={first['cursor']}")).json
    assert second["facets"] == first["facets"]


async def test_each_value_can_be_asked_for_and_finds_as_many(api: ApiCaller, shelf: Shelf) -> None:
    await keep_pages(shelf)
    await shelf.keep(
        "https://a.example/long", "budget", published_at=at("2026-05-06"), authors=("A" * 300, "x & 100 %+y")
    )
    asked = 0
    for words in ("budget", ""):
        told: list[dict[str, Any]] = (await api.get(f"search?q={words}&facets={ALL}")).json["facets"]["counts"]
        for one in told:
            for value in one["values"]:
                query = urlencode({"q": words, one["facet"]: value["value"]})
                found = (await api.get(f"search?{query}")).json["documents"]
                assert len(found) == value["count"], query
                assert (await counts(api, f"{query}&facets={one['facet']}"))[one["facet"]][value["name"]] == len(found)
                asked += 1
    assert asked > 30


async def test_without_words_the_newest_are_counted(api: ApiCaller, shelf: Shelf) -> None:
    await keep_pages(shelf)
    assert await counts(api, "facets=host&host=C.example") == {"host": {"c.example": 1}}
    listed = (await api.get("documents?month=2026-05&page_type=article")).json["documents"]
    assert {one["url"] for one in listed} == {"https://a.example/1", "https://c.example/6"}
    assert (await api.get("documents?month=2026-05&day=2026-06-01")).json["documents"] == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("facets=title", "There is no facet 'title'."),
        ("facets=source,sources", "There is no facet 'sources'."),
        ("facets=" + ",".join(f"f{n}" for n in range(50)), "There is no facet 'f0'."),
        (f"facets={'x' * 5_000}", f"There is no facet '{'x' * 40}'."),
        ("facets=%00", "There is no facet"),
        ("facets=source&kind=job", "Vacancies have no facets."),
        ("host=a.example&kind=job", "Vacancies have no host."),
        ("page_type=live&author=Ann&kind=job", "Vacancies have no author and no page_type."),
        ("page_type=poem", "There is no kind of page 'poem'."),
        ("month=2026-5", "'2026-5' is no month."),
        ("month=2026-13", "'2026-13' is no month."),
        ("month=0000-01", "'0000-01' is no month."),
        ("month=9999-12", "'9999-12' is no month."),
        ("month=" + quote("٢٠٢٦-٠٥"), "is no month."),
        ("day=2026-02-30", "'2026-02-30' is no day."),
        ("day=2026-05", "'2026-05' is no day."),
        ("day=", "'' is no day."),
    ],
)
async def test_what_cannot_be_counted_or_asked_for_is_refused(api: ApiCaller, query: str, told: str) -> None:
    answer = await api.get(f"search?{query}")
    assert (answer.status, answer.headers["content-type"]) == (422, "application/problem+json")
    assert told in answer.json["detail"]
    assert "facet " not in told or "source, host, language, page_type, author, month, day" in answer.json["fix"]


async def test_fifty_facets_of_one_name_are_one_and_as_many_parameters_too_many(api: ApiCaller, shelf: Shelf) -> None:
    await keep_pages(shelf)
    assert len((await counts(api, "q=budget&facets=" + ",".join(["host"] * 50)))["host"]) == 2
    assert (await api.get("search?q=budget&" + "&".join(["facets=host"] * 50))).status == 422


async def test_lists_of_vacancies_refuse_filters_of_documents(api: ApiCaller) -> None:
    for query in ("host=a.example", "page_type=live", "author=Ann"):
        assert (await api.get(f"jobs?{query}")).status == 422
    assert (await api.get("jobs?month=2026-05")).status == 200


async def test_the_client_asks_for_facets(api: ApiCaller, shelf: Shelf) -> None:
    await keep_pages(shelf)

    def ask() -> Any:
        with Client(api.address) as client:
            return client.search(q="budget", facets=["host", "month"], page_type="article")

    found = await asyncio.to_thread(ask)
    assert [one["facet"] for one in found["facets"]["counts"]] == ["host", "month"]
    assert found["facets"]["counted"] == 4


def require_inert(page: Reply) -> None:
    """What a form sends again is not shown, and has to be what it was."""
    assert_inert(replace(page, body=HIDDEN.sub(b"", page.body)))


async def test_hostile_names_are_inert_and_their_links_find_them(api: ApiCaller, shelf: Shelf) -> None:
    await add_source(shelf.database, SOURCE, HOSTILE)
    await shelf.keep("https://a.example/1", "budget one", authors=(HOSTILE, "../?q=x&source=y#z"), source_id=SOURCE)
    await shelf.keep("https://b.example/2", "budget two", authors=("javascript:alert(1)",))
    page = await api.get("/console/documents?q=budget")
    assert_inert(page)
    text = page.body.decode()
    narrower = text[text.index('id="narrowing"') : text.index("</nav>", text.index('id="narrowing"'))]
    assert "&lt;script&gt;" in narrower
    links = [part.partition('"')[0].replace("&amp;", "&") for part in narrower.split('href="')[1:]]
    assert links
    assert all(one.startswith("/console/documents?q=budget&") for one in links)
    for one in links:
        chosen = await api.get(one)
        require_inert(chosen)
        assert chosen.body.count(b"<h2><a ") == 1, one


async def test_what_was_chosen_is_shown_where_the_search_is_refused(api: ApiCaller) -> None:
    page = await api.get(f"/console/documents?page_type={quote(HOSTILE)}&month=2026-05")
    assert page.status == 422
    require_inert(page)
    assert b"2026-05" in page.body
    assert b'href="/console/documents?month=2026-05"' in page.body
