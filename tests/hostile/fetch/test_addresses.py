"""Sections A and B: no byte goes to a forbidden address, whichever way its URL reaches us."""

import pytest
from tests.hostile.fetch.ears import Ears, listening
from tests.hostile.fetch.rows import BLOCKED, EVERYWHERE, IN_A_HEADER, NAMES, Row
from tests.hostile.fetch.stage import PLAIN, Stage, hash_of, staged, word_for
from tests.integration.fetch.conftest import SmallSite

from headwater.frontier.verdicts import Moved
from headwater.net.guard import BlockedAddress
from headwater.settings.groups import NetworkSettings
from headwater.simweb.mischief.redirects import Redirect
from headwater.simweb.resolver import Answers, DnsMischief, NoAnswer, NoSuchName, ServerFailure
from headwater.web import guard_of, own_listeners


def at(ears: Ears, row: Row) -> str:
    return row.vector.replace("{port}", str(ears.port))


def script_names(stage: Stage) -> None:
    for name, addresses in NAMES.items():
        stage.path.resolver.script(name, Answers((addresses,)))


def assert_untouched(stage: Stage) -> None:
    assert stage.ears.heard == (0, 0)
    assert stage.strangers_dialled() == set()


async def test_as_an_entry_each_is_refused_or_dies_blocked(database_url: str) -> None:
    async with staged(database_url, {}) as stage:
        script_names(stage)
        urls = {at(stage.ears, row): row for row in EVERYWHERE}
        words = await stage.submit(urls)
        verdicts = await stage.verdicts()
        words |= {url: word_for(verdicts.get(hash_of(url))) for url in urls if url not in words}
        assert [(row.id, url, words[url]) for url, row in urls.items() if words[url] != row.fate] == []
        assert_untouched(stage)


@pytest.mark.long
async def test_as_the_target_of_a_redirect_each_is_refused_or_dies_blocked(database_url: str) -> None:
    froms = {f"r{number}.test": row for number, row in enumerate(IN_A_HEADER)}
    async with staged(database_url, {host: SmallSite({}) for host in froms}) as stage:
        script_names(stage)
        for host, row in froms.items():
            stage.path.sim.script(host, Redirect(at(stage.ears, row)), "/page")
        await stage.submit(f"http://{host}/page" for host in froms)
        verdicts = await stage.verdicts()

        def word(host: str) -> str:
            verdict = verdicts.get(hash_of(f"http://{host}/page"))
            return word_for(verdicts.get(hash_of(verdict.to)) if isinstance(verdict, Moved) else verdict)

        assert [(row.id, row.vector, word(host)) for host, row in froms.items() if word(host) != row.fate] == []
        assert_untouched(stage)


@pytest.mark.long
async def test_as_the_target_of_a_robots_redirect_the_site_waits_or_has_no_rules(database_url: str) -> None:
    froms = {f"q{number}.test": row for number, row in enumerate(IN_A_HEADER)}
    async with staged(database_url, {host: SmallSite({"/page": PLAIN}) for host in froms}) as stage:
        script_names(stage)
        for host, row in froms.items():
            stage.path.sim.script(host, Redirect(at(stage.ears, row)), "/robots.txt")
        await stage.submit(f"http://{host}/page" for host in froms)
        verdicts = await stage.verdicts()
        words = {host: word_for(verdicts.get(hash_of(f"http://{host}/page"))) for host in froms}
        # A redirect that is no URL leads nowhere, which is having no robots.txt; a forbidden place may hold one.
        expected = {
            host: "wait: robots_unreachable" if row.fate == BLOCKED else "fetched" for host, row in froms.items()
        }
        assert [(froms[host], word) for host, word in words.items() if word != expected[host]] == []
        asked = set(stage.path.asked())
        assert not [host for host, word in expected.items() if word.startswith("wait") and f"{host}/page" in asked]
        assert_untouched(stage)


async def test_our_own_listeners_are_closed_whatever_is_allowed(database_url: str) -> None:
    """A33: the web role's port, at whichever of our addresses a name leads to it."""
    async with listening() as api, listening() as other:
        flags = {
            "web.host": "0.0.0.0",
            "web.port": str(api.port),
            "network.allow": "127.0.0.0/8",
            "network.ports": f"80,{api.port},{other.port}",
        }
        async with staged(database_url, {"good.test": SmallSite({})}, flags) as stage:
            stage.path.resolver.script("api.test", Answers((("127.0.0.2",),)))
            ours = [f"http://api.test:{api.port}/x", f"http://127.0.0.1:{api.port}/x"]
            beside = f"http://127.0.0.1:{other.port}/x"
            await stage.submit([*ours, beside])
            verdicts = await stage.verdicts()
            assert [word_for(verdicts[hash_of(url)]) for url in ours] == [BLOCKED, BLOCKED]
            assert api.heard == (0, 0)
            # Only its neighbour was meant to be open.
            assert other.connections


@pytest.mark.parametrize("url", ["postgresql://headwater@127.0.0.1:6543/x", "postgresql://headwater@localhost:6543/x"])
async def test_our_own_database_is_closed_whatever_is_allowed(url: str) -> None:
    """A33."""
    guard = guard_of(NetworkSettings(allow=("127.0.0.0/8",)), await own_listeners(url))
    guard.check("127.0.0.1", 6544)
    with pytest.raises(BlockedAddress, match="one of our own listeners"):
        guard.check("127.0.0.1", 6543)


async def test_a_name_that_changes_its_mind_is_checked_each_time_it_is_dialled(database_url: str) -> None:
    """A30: one look-up per connection, and what was checked is what is dialled."""
    async with staged(database_url, {"turn.test": SmallSite({"/page": PLAIN})}) as stage:
        stage.path.resolver.script("turn.test", Answers((("127.0.0.1",), ("127.0.0.2",))))
        outside, inside = "http://turn.test/page", f"http://turn.test:{stage.ears.port}/page"
        for url in (outside, inside):
            await stage.submit([url])
            await stage.verdicts()
        words = await stage.path.database.fetch("select url, coalesce(reason, status) from url_frontier")
        # Another port means another connection, and that another look-up.
        assert dict(map(tuple, words)) == {outside: "fetched", inside: BLOCKED}
        assert stage.path.resolver.asked["turn.test"] == 2
        assert_untouched(stage)


async def test_a_name_without_a_usable_answer_waits_and_stops_nothing_else(database_url: str) -> None:
    """A31: loops and endless chains of names end as failures of the lookup."""
    names: dict[str, DnsMischief] = {
        "unknown.test": NoSuchName(),
        "broken.test": ServerFailure(),
        "silent.test": NoAnswer(60),
        "empty.test": Answers(((),)),
    }
    async with staged(database_url, {"good.test": SmallSite({"/page": PLAIN})}) as stage:
        for name, answer in names.items():
            stage.path.resolver.script(name, answer)
        hosts = [*names, "good.test"]
        await stage.submit(f"http://{host}/page" for host in hosts)
        verdicts = await stage.verdicts()
        words = {host: word_for(verdicts.get(hash_of(f"http://{host}/page"))) for host in hosts}
        assert words == dict.fromkeys(names, "wait: robots_unreachable") | {"good.test": "fetched"}
        assert_untouched(stage)


# B41, B44, B45, B48: harmless once seen for what they are; (vector, host and target the server is asked for).
SPELT_OUT = [
    ("HtTp://EXAMPLE.test:80/a/../b?", "example.test/b"),
    ("http://ex%61mple.test/44", "example.test/44"),
    ("http://example.test/%0d%0aHost:%20x", "example.test/%0d%0aHost:%20x"),
    ("http://ex\xadample.test/48", "example.test/48"),
    ("http://ℝ.test/", "r.test/"),
    ("http://straße.test/", "xn--strae-oqa.test/"),
    ("http://example.test/" + "a" * 2063, "example.test/" + "a" * 2063),
]


async def test_harmless_spellings_are_asked_for_as_they_were_checked(database_url: str) -> None:
    async with staged(database_url, {}) as stage:
        assert await stage.submit(vector for vector, _ in SPELT_OUT) == {}
        await stage.verdicts()
        pages = [asked for asked in stage.path.asked() if not asked.endswith("/robots.txt")]
        assert sorted(pages) == sorted(asked for _, asked in SPELT_OUT)
