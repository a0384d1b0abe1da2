from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from tests.integration.simweb.conftest import Farm


async def control(farm: Farm, method: str, target: str, given: object = None) -> tuple[int, Any]:
    body = b"" if given is None else orjson.dumps(given)
    reply = await farm.ask("simweb.test" + target, method, body)
    return reply.status, orjson.loads(reply.body)


async def test_mischief_is_scripted_listed_and_removed_from_outside(farm: Farm) -> None:
    rule = {"host": "a.test", "path_prefix": "/", "times": 1, "mischief": {"kind": "status", "code": 503}}
    assert (await control(farm, "POST", "/script", rule))[0] == 201
    assert [(await farm.ask("a.test/")).status for _ in range(2)] == [503, 200]
    _, listed = await control(farm, "GET", "/script")
    assert [(each["played"], each["mischief"]["code"]) for each in listed] == [(1, 503)]
    assert await control(farm, "DELETE", "/script?host=a.test") == (200, {"removed": 1})


async def test_wrong_scripts_are_refused_with_a_sentence(farm: Farm) -> None:
    wrong: list[object] = [
        {"host": "a.test", "mischief": {"kind": "nonsense"}},
        {"host": "a.test", "mischief": {"kind": "bomb", "megabytes": -1}},
        {"host": "a.test", "mischief": {"kind": "bomb"}, "times": 0},
        {"host": "a.test", "mischief": {"kind": "bomb"}, "path_prefix": "x"},
        {"mischief": {"kind": "bomb"}},
        ["a.test"],
    ]
    for given in wrong:
        status, told = await control(farm, "POST", "/script", given)
        assert (status, bool(told["error"])) == (400, True), given
    assert (await farm.ask("simweb.test/script", "POST", b"{")).status == 400
    assert (await farm.ask("a.test/")).status == 200


async def test_visits_are_read_by_host_and_number_and_control_is_not_among_them(farm: Farm) -> None:
    for url in ("a.test/", "b.test/", "a.test/robots.txt"):
        await farm.ask(url)
    _, told = await control(farm, "GET", "/visits?host=a.test&since=1")
    assert [(visit["number"], visit["path"], visit["status"]) for visit in told["visits"]] == [(3, "/robots.txt", 200)]
    assert (await control(farm, "GET", "/visits"))[1]["dropped"] == 0
    assert len(farm.web.visits.all()) == 3
    assert (await control(farm, "GET", "/visits?since=x"))[0] == 400


async def test_the_report_judges_by_each_sites_own_robots(farm: Farm) -> None:
    for url in ("a.test/", "a.test/members/1", "b.test/"):
        await farm.ask(url)
    _, told = await control(farm, "GET", "/report")
    assert (told["total"]["requests"], told["total"]["disallowed"], told["total"]["hosts"]) == (3, 1, 2)
    assert told["hosts"]["a.test"]["statuses"] == {"200": 1, "404": 1}
    assert told["hosts"]["a.test"]["highest_concurrency"] == 1
    assert told["hosts"]["a.test"]["smallest_gap_ms"] > 0


async def test_reset_forgets_everything(farm: Farm) -> None:
    await control(farm, "POST", "/script", {"host": "*", "mischief": {"kind": "status"}})
    await farm.ask("a.test/")
    await control(farm, "POST", "/reset")
    assert farm.web.visits.all() == []
    assert (await farm.ask("a.test/")).status == 200


async def test_an_unknown_control_path_lists_the_known_ones(farm: Farm) -> None:
    status, told = await control(farm, "GET", "/nothing")
    assert status == 404
    assert "GET /report" in told["fix"]
    assert (await control(farm, "GET", "/hosts"))[1] == ["a.test", "b.test"]


async def test_a_person_finds_the_sites_by_the_bare_address(farm: Farm) -> None:
    address = f"127.0.0.1:{farm.port}"
    assert b'href="/@a.test/"' in (await farm.ask(f"{address}/")).body
    assert (await farm.ask(f"{address}/@a.test/robots.txt")).body == farm.site.pages["/robots.txt"].body
    (visit,) = farm.web.visits.all()
    assert (visit.host, visit.path) == ("a.test", "/robots.txt")


async def test_a_browser_may_use_the_server_as_its_proxy(farm: Farm) -> None:
    wire = await farm.wire(b"GET http://a.test/robots.txt HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
    assert wire.endswith(farm.site.pages["/robots.txt"].body)
