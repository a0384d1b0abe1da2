"""Commands in sentences become operations for programs, and links for people at the console."""

import pytest

from headwater.serve.agents.calling import TOOLS as OFFERED
from headwater.serve.app import every_route
from headwater.serve.ways import LONGEST, TOOLS, WAYS, PageWay, in_http, in_tools, page_way

SOURCE = "0be9ce8f-b1c5-4cb1-83ff-8c13f665c2ca"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("`headwater sources list` shows those there are.", "`GET /api/v1/sources` shows those there are."),
        ("See what is: headwater takedown list", "See what is: GET /api/v1/takedowns"),
        (f"Resume it: headwater sources resume {SOURCE}", f"Resume it: POST /api/v1/sources/{SOURCE}/resume"),
        (
            "Look at it: headwater sources show 'https://a.example/x y'",
            "Look at it: GET /api/v1/sources/https%3A%2F%2Fa.example%2Fx%20y",
        ),
        (
            "Add it: headwater frontier add https://a.example/?q=1",
            'Add it: POST /api/v1/frontier/submit with {"url":"https://a.example/?q=1"}',
        ),
        (
            "Ask about it: headwater hosts robots a.example --check https://a.example/b",
            "Ask about it: GET /api/v1/hosts/a.example/robots?check=https%3A%2F%2Fa.example%2Fb",
        ),
        (
            "Ask it less often: headwater hosts policy set a.example --min-request-interval-ms 10000",
            'Ask it less often: PUT /api/v1/hosts/a.example/policy with {"min_request_interval_ms":10000}',
        ),
        (
            "Lift it with `headwater takedown rm`, or remove the source: headwater sources rm x",
            "Lift it with `DELETE /api/v1/takedowns/{name}`, or remove the source: DELETE /api/v1/sources/x",
        ),
        ("See which: headwater frontier list --status dead", "See which: GET /api/v1/frontier?status=dead"),
        # Of this machine alone, or nothing that could be typed.
        ("Run: headwater db migrate", "Run: headwater db migrate"),
        ("`headwater up`, or headwater run poll", "`headwater up`, or headwater run poll"),
        ("Look: headwater sources show 'half", "Look: headwater sources show 'half"),
        ("The user headwater sees it.", "The user headwater sees it."),
        ("headwater " * LONGEST, "headwater " * LONGEST),
        ("", ""),
    ],
)
def test_a_program_is_told_the_operation(told: str, said: str) -> None:
    assert in_http(told) == said


@pytest.mark.parametrize(
    ("told", "way"),
    [
        (
            f"See whether it moved: headwater sources test {SOURCE}",
            ("See whether it moved", f"/console/sources/{SOURCE}"),
        ),
        ("`headwater sources list` shows those there are.", ("The page shows those there are.", "/console/sources")),
        (
            "See which: headwater frontier list --status dead --reason poison",
            ("See which", "/console/frontier?status=dead&reason=poison"),
        ),
        (
            "See why: headwater explain https://a.example/",
            ("See why", "/console/frontier/url?url=https%3A%2F%2Fa.example%2F"),
        ),
        ("Look: headwater sources show ../../login", ("Look", "/console/sources/..%2F..%2Flogin")),
        ("Look: headwater sources show", None),
        (
            "Set selectors with `headwater sources edit`. See what it finds: headwater sources simulate x",
            ("See what it finds", "/console/sources/x", "Set selectors with `headwater sources edit`. "),
        ),
        ("Run: headwater db migrate", None),
        ("Write to its owner.", None),
    ],
)
def test_a_person_is_led_to_the_page(told: str, way: tuple[str, ...] | None) -> None:
    assert page_way(told) == (PageWay(*way) if way else None)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("See all of them: headwater views list", "See all of them: `list_views`"),
        ("`headwater sources list` shows those there are.", "`list_sources` shows those there are."),
        ("Add it: headwater frontier add https://a.example/", "Add it: `queue_url`"),
        ("See what is: headwater takedown list", "See what is: headwater takedown list"),
    ],
)
def test_an_agent_is_told_the_tool(told: str, said: str) -> None:
    assert in_tools(told) == said
    assert {*TOOLS.values()} <= {one.name for one in OFFERED}


def test_every_operation_and_page_is_there() -> None:
    served = {(method, route.path.replace(":path}", "}")) for route in every_route() for method in route.methods or ()}
    paths = {path for _, path in served}
    for command, way in WAYS.items():
        assert (way.method, way.path) in served, command
        page = way.page.partition("?")[0]
        kinds = {page.replace("{}", place) for place in ("{host}", "{name}", "{named}", "{source}", "{id}")}
        assert not page or kinds & paths, command
