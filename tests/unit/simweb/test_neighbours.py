"""The hostile neighbour: every attack by itself, as bad as it is said to be, and the same at every look."""

import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

import orjson
import pytest

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.mischief.pace import StallAt
from headwater.simweb.neighbours import ATTACKS, AttackName, Plan, beside, canary, canary_of, plan_against
from headwater.simweb.neighbours.plan import Pages, always
from headwater.simweb.neighbours.pretence import ACTING, HIDING
from headwater.simweb.neighbours.weight import DIVS, POSTINGS, crowd_hosts, silent_hosts
from headwater.simweb.neighbours.words import article
from headwater.simweb.world import World

NOW = datetime(2026, 3, 2, 6, tzinfo=UTC)
ARTICLES = ("http://paper.test/a", "http://paper.test/b", "http://other.test/c")
VICTIM = Pages({"/a": always(article("A", ["The first text."]))})
LINK = re.compile(rb"<link>([^<]+)</link>")
SMALL = {"silent_names": 20, "heavy_pages": 20, "deadly_pages": 2, "flood": 50, "crowd": 20}


def plan_of(*attacks: AttackName) -> Plan:
    aims = {"articles": ARTICLES, "vacancies": ARTICLES, "stories": ARTICLES, "copied": ARTICLES[:1]}
    return Plan(attacks, **aims, **SMALL)  # type: ignore[arg-type]


def page(sites: object, url: str) -> Page:
    place = urlsplit(url)
    assert hasattr(sites, "__getitem__")
    site: Site = sites[place.netloc]
    found = site.page(Request("GET", place.netloc, place.path, place.query, {}), NOW)
    assert found is not None, url
    return found


def feed_of(attack: AttackName, plan: Plan | None = None) -> bytes:
    neighbours = beside({"paper.test": VICTIM}, plan or plan_of(attack))
    [url] = [feed for one in neighbours.followed for feed in one.feeds]
    return page(neighbours.sites, url).body


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_stands_alone_and_all_it_is_followed_by_is_there(attack: AttackName) -> None:
    neighbours = beside({"paper.test": VICTIM}, plan_of(attack))
    assert {one.attack for one in neighbours.followed} == {attack}
    for one in neighbours.followed:
        assert all(page(neighbours.sites, url).body for url in (*one.feeds, *one.sitemaps) or (one.url,))


@pytest.mark.parametrize("attack", [one for one in ATTACKS if one != "foreign_flood"])
def test_equal_plans_make_equal_pages(attack: AttackName) -> None:
    one, other = (beside({"paper.test": VICTIM}, plan_of(attack)) for _ in range(2))
    urls = [url for each in one.followed for url in (*each.feeds, *each.sitemaps)]
    assert [page(one.sites, url) for url in urls] == [page(other.sites, url) for url in urls]


def test_without_attacks_the_web_is_as_it_was() -> None:
    neighbours = beside({"paper.test": VICTIM}, Plan())
    assert dict(neighbours.sites) == {"paper.test": VICTIM}
    assert neighbours.followed == ()


def test_stolen_words_are_long_and_marked_one_by_one() -> None:
    body = feed_of("stolen_words").decode()
    assert [canary("stolen_words", n) in body for n in range(3)] == [True] * 3
    assert "content:encoded" in body
    assert len(body) > 3 * 1_500
    assert canary_of(body) == "mallory-stolen-words-0"


def test_the_heavy_listing_has_the_shape_that_froze_a_reader() -> None:
    neighbours = beside({}, plan_of("heavy_listing"))
    body = page(neighbours.sites, neighbours.followed[0].url).body
    assert 95_000 < len(body) < 130_000
    data = orjson.loads(re.search(rb"<script[^>]*>(.*)</script>", body, re.DOTALL)[1])  # type: ignore[index]
    places = [one.get("jobLocation") for one in data["@graph"] if one["@type"] == "JobPosting"]
    assert places == [{"@id": "#place"}] * POSTINGS
    assert data["@graph"][0]["name"].count("<div>") == DIVS


def test_a_copy_shows_the_newest_text_under_its_own_name_and_its_feed_tells() -> None:
    pages = {"/a": always(Page(b'<link rel="canonical" href="http://paper.test/a"><p>The first text.'))}
    neighbours = beside({"paper.test": Pages(pages)}, plan_of("copies"))
    before = (
        page(neighbours.sites, "http://copies.mallory.test/copy-0"),
        page(neighbours.sites, "http://copies.mallory.test/feed.xml"),
    )
    assert b"first text" in before[0].body
    assert b"paper.test" not in before[0].body
    pages["/a"] = always(Page(b"<p>The second text."))
    assert b"second" in page(neighbours.sites, "http://copies.mallory.test/copy-0").body
    assert page(neighbours.sites, "http://copies.mallory.test/feed.xml") != before[1]


def test_a_flood_never_lists_an_address_twice_and_names_others_too() -> None:
    neighbours = beside({}, Plan(("foreign_flood",), ARTICLES, flood=600))
    listed = [LINK.findall(page(neighbours.sites, "http://flood.mallory.test/feed.xml").body) for _ in range(3)]
    urls = [url for one in listed for url in one]
    assert len(urls) == len(set(urls)) == 1_800
    assert any(url.startswith(b"http://paper.test/") for url in urls)


def test_silent_names_say_nothing_and_half_of_them_share_a_domain() -> None:
    neighbours = beside({}, Plan(("silent_names",)))
    assert set(neighbours.mischief.values()) == {StallAt("connect")}
    assert list(neighbours.mischief) == silent_hosts(2_000)
    assert sum(name.endswith(".silent.test") for name in neighbours.mischief) == 1_000


def test_tenants_of_a_shared_domain_are_named_for_the_resolver_and_the_crowd_has_one_address() -> None:
    neighbours = beside({}, plan_of("false_canonical", "many_names"))
    assert neighbours.names == {"www.github.io", "m.github.io", "amp.github.io"}
    assert set(neighbours.addresses()) == {"crowd.mallory.test", *crowd_hosts(20)}
    assert set(neighbours.addresses().values()) == {"127.0.0.9"}


def test_pretenders_name_each_post_once_and_every_second_asks_not_to_be_indexed() -> None:
    neighbours = beside({}, plan_of("false_canonical"))
    named = [page(neighbours.sites, f"http://homes.test/~mallory/x-{n}").body for n in range(4)]
    assert all(f"http://homes.test/~alice/post-{n}".encode() in body for n, body in enumerate(named))
    assert [b"noindex" in body for body in named] == [False, True, False, True]


def test_addresses_that_act_are_listed_for_every_host_and_hidden_words_in_every_way() -> None:
    listed = LINK.findall(feed_of("effects"))
    assert len(listed) == 3 * len(ACTING)
    neighbours = beside({}, plan_of("hidden_text"))
    for n in range(len(HIDING)):
        body = page(neighbours.sites, f"http://hidden.mallory.test/story-{n}").body.decode()
        assert canary_of(body) == canary("hidden_text", n)


def test_a_plan_can_aim_at_a_world() -> None:
    world = World(1, 14, start=NOW)
    plan = plan_against(world, NOW, ATTACKS, most=6)
    known = set(world.urls(NOW))
    assert len(plan.articles) == len(plan.vacancies) == 6
    assert set(plan.articles) <= known
    neighbours = beside(world.sites, plan)
    assert page(neighbours.sites, "http://copies.mallory.test/copy-0").body
