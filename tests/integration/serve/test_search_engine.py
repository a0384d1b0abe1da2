"""Searches that another server is to answer, asked through the API and the console."""

from tests.integration.archive.shelf import Shelf
from tests.integration.search.engines import Both
from tests.integration.serve.callers import ApiCaller

NOBODY_THERE = "http://127.0.0.1:9"


async def test_a_server_that_is_away_is_told_with_what_to_do_and_all_else_goes_on(api: ApiCaller) -> None:
    shelf = Shelf(api.services.database)
    await shelf.keep("https://a.example/", "tide tables")
    assert len((await api.get("search?q=tide")).json["documents"]) == 1
    await Both(shelf, NOBODY_THERE).add_sink("words")
    # As `db search-engine opensearch` leaves it: this process has begun before.
    await shelf.database.execute("UPDATE search_column SET state = 'away'")
    said = await api.get("search?q=tide")
    assert said.status == 503
    assert "from the sink 'words', and cannot: http://127.0.0.1:9 cannot be reached" in said.json["detail"]
    assert "headwater db search-engine postgresql" in said.json["fix"]
    page = await api.get("/console/documents?q=tide", accept="text/html")
    assert page.status == 503
    assert b"cannot be reached" in page.body
    assert len((await api.get("documents")).json["documents"]) == 1
    await shelf.database.execute("UPDATE search_column SET state = 'kept'")
    assert (await api.get("search?q=tide")).json["engine"] == "PostgreSQL"


async def test_without_a_sink_a_search_says_which_setting_asks_for_one(api: ApiCaller) -> None:
    await api.services.database.execute("UPDATE search_column SET state = 'away'")
    said = await api.get("search?q=tide")
    assert said.status == 503
    assert "no sink has that layout" in said.json["detail"]
