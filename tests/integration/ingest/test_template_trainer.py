"""The life of a template on a real database, with pages of the simulated web read in real children."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.clocks import ManualClock
from tests.integration.archive.shelf import key_of
from tests.integration.ingest.press import WORLD_NOW, Press

from headwater.archive.raw import newest_body
from headwater.archive.reads import Document, read_document
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.errors import NotFound
from headwater.extraction.templates.guide import agreement
from headwater.extraction.training import LearnedTemplate, Training
from headwater.ingest.page_context import Context
from headwater.ingest.stored_pages import lease_of
from headwater.learning.store import begin_training, disable, end_training, expire, relearn
from headwater.learning.template_cache import TemplateCache
from headwater.sources.store import edit_source, events_of
from headwater.urls.canonical import canonicalise


async def trainings(press: Press) -> int:
    """What was seen is handed in, and every training that is due is held."""
    await press.template_trainer.hand_in()
    count = 0
    while await press.template_trainer.train_next():
        count += 1
    return count


async def produced_by(press: Press, urls: list[str]) -> Counter[str]:
    return Counter([(await document(press, url)).produced_by for url in urls])


async def document(press: Press, url: str) -> Document:
    found = await read_document(press.database, key_of(url))
    assert found is not None
    return found


async def standing(press: Press) -> Any:
    return await press.database.fetchrow("select * from templates order by version desc limit 1")


async def kinds(press: Press) -> list[str]:
    return [one.event.kind for one in reversed(await events_of(press.database, press.source))]


async def print_more(press: Press, first: int, last: int, change: Any = lambda html: html) -> list[str]:
    items = press.items(last)[first:]
    for item in items:
        await press.keep(item.url, change(press.html(item.url)))
    return [item.url for item in items]


def truth(press: Press, url: str) -> str:
    return next(item.text for item in press.items(60) if item.url == url)


async def test_four_pages_teach_and_the_next_ones_are_read_by_the_template(press: Press) -> None:
    before = await press.print(4)
    assert await trainings(press) == 1
    after = await print_more(press, 4, 10)
    assert await produced_by(press, before) == {"trafilatura": 4}
    assert await produced_by(press, after) == {"template@1": 6}
    for url in after:
        assert agreement((await document(press, url)).text, truth(press, url)) > 0.95, "a byline at most"
    assert "template_learned" in await kinds(press)


async def test_three_pages_teach_nothing(press: Press) -> None:
    await press.print(3)
    assert await trainings(press) == 0
    assert await produced_by(press, await print_more(press, 3, 4)) == {"trafilatura": 1}


async def test_selectors_of_a_person_win_over_what_was_learned(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    async with press.database.transaction() as connection:
        await edit_source(connection, press.source, {"selectors": {"article": {"body": "article > p"}}}, "tester")
    urls = await print_more(press, 4, 6)
    assert await produced_by(press, urls) == {"selectors": 2}


@pytest.mark.long
async def test_what_was_served_and_audited_is_counted(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    press.template_cache.audit_share = 1.0
    await print_more(press, 4, 9)
    await trainings(press)
    found = await standing(press)
    assert (found["served"], found["refused"], found["audited"]) == (5, 0, 5)
    assert found["agreeing"] > 0.9


async def test_a_new_layout_is_refused_then_learned(press: Press) -> None:
    def moved(html: bytes) -> bytes:
        page = html.replace(b"<article", b"<div><section", 1).replace(b"</article>", b"</section></div>", 1)
        return page.replace(b'class="', b'class="new-')

    await press.print(8)
    await trainings(press)
    fallen_back = await print_more(press, 8, 16, moved)
    for url in fallen_back:
        assert agreement((await document(press, url)).text, truth(press, url)) > 0.9
    assert await trainings(press) == 1
    learned = await print_more(press, 16, 22, moved)
    assert await produced_by(press, learned) == {"template@2": 6}
    assert (await kinds(press)).count("template_learned") == 2
    old_ones = await print_more(press, 22, 25)
    assert await produced_by(press, old_ones) == {"template@2": 3}, "the old layout is still known"


async def test_a_template_that_disagrees_more_than_in_the_past_is_switched_off(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    # As if it had agreed with the general extractor word for word, and the host's pages had become others since.
    await press.database.execute("update templates set agreement = 1.0, agreeing = 0.5, audited = 10")
    press.template_cache.audit_share = 1.0
    await print_more(press, 4, 6)
    await press.template_trainer.hand_in()
    found = await standing(press)
    assert found["status"] == "off"
    assert "agrees with the general extractor" in found["why_ended"]
    assert "template_switched_off" in await kinds(press)
    assert await produced_by(press, await print_more(press, 6, 7)) == {"trafilatura": 1}


@pytest.mark.long
async def test_a_disabled_host_is_read_the_general_way_until_a_training_is_asked_for(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    host = canonicalise(press.publisher.home).host
    assert await disable(press.database, host, "tester") == 1
    press.template_cache.forget(host)
    assert await produced_by(press, await print_more(press, 4, 10)) == {"trafilatura": 6}
    assert await trainings(press) == 0
    await relearn(press.database, host, "tester")
    assert await trainings(press) == 1
    assert await produced_by(press, await print_more(press, 10, 12)) == {"template@2": 2}


@pytest.mark.long
async def test_a_training_that_a_person_asked_for_does_not_mind_what_is_in_use(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    host = canonicalise(press.publisher.home).host
    await relearn(press.database, host, "tester")
    assert await trainings(press) == 1
    assert await produced_by(press, await print_more(press, 4, 6)) == {"template@2": 2}
    assert (await standing(press))["pages"] == 4


async def test_what_was_learned_of_sections_because_a_person_asked_ends_all_that_was_in_use(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    await relearn(press.database, canonicalise(press.publisher.home).host, "tester")
    due, old = await begin_training(press.database), await standing(press)
    assert due is not None
    learned_templates = LearnedTemplate(section="sport", template=old["template"], pages=4, agreement=1.0)
    await end_training(press.database, due, Training((learned_templates,), pages=4))
    active = await press.database.fetch("select section from templates where status = 'active'")
    assert [row["section"] for row in active] == ["sport"]


async def test_a_changed_selector_is_known_after_a_minute(press: Press) -> None:
    clock = ManualClock(WORLD_NOW)
    context = Context(press.database, clock, press.template_cache)
    [url] = await press.print(1)
    body = await newest_body(press.database, key_of(url))
    assert body is not None
    await context.context_of(lease_of(body))
    async with press.database.transaction() as connection:
        await edit_source(connection, press.source, {"selectors": {"article": {"body": "main > p"}}}, "tester")
    clock.move(timedelta(seconds=60))
    source = (await context.context_of(lease_of(body))).source
    assert source is not None
    assert source.selectors


async def test_a_host_of_which_nothing_is_known_cannot_be_disabled_or_learned(press: Press) -> None:
    for change in (disable, relearn):
        with pytest.raises(NotFound, match=r"nowhere\.test"):
            await change(press.database, "nowhere.test", "tester")


async def test_an_unused_template_expires(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    assert await expire(press.database, 30) == 0
    await press.database.execute("update templates set used_at = used_at - interval '31 days'")
    assert await expire(press.database, 30) == 1
    assert (await standing(press))["status"] == "expired"


async def test_a_training_whose_process_died_is_due_again_later_and_only_one_process_holds_it(press: Press) -> None:
    await press.print(4)
    await press.template_trainer.hand_in()
    assert await begin_training(press.database) is not None
    assert await begin_training(press.database) is None
    await press.database.execute("update learning_hosts set learn_at = clock_timestamp()")
    assert await begin_training(press.database) is not None
    waits = await press.database.fetchval(
        "select learn_at - clock_timestamp() > interval '3 minutes' from learning_hosts"
    )
    assert waits, "the second try waits longer than the first"


@pytest.mark.long
async def test_a_template_in_a_form_of_another_release_ends_and_its_host_is_learned_again(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    await press.database.execute("update templates set template = jsonb_set(template, '{form}', '2')")
    press.template_cache.forget(canonicalise(press.publisher.home).host)
    assert await produced_by(press, await print_more(press, 4, 8)) == {"trafilatura": 4}
    assert await trainings(press) == 1
    assert await produced_by(press, await print_more(press, 8, 10)) == {"template@2": 2}
    ended = await press.database.fetchrow("select status, why_ended from templates where version = 1")
    assert ended is not None
    assert (ended["status"], "another release" in ended["why_ended"]) == ("expired", True)


RECIPE = """<html><head><title>Dish {number}</title></head><body><nav><a href=/>Home</a></nav><h1>Dish {number}</h1>
<article class="recipe"><p>{intro}</p><h2>Ingredients</h2><ul><li>{number}00 g beans</li><li>1 tsp salt</li></ul>
<h2>Method</h2><ol>{steps}</ol></article></body></html>"""


def recipe(number: int) -> bytes:
    words = [f"word{number * 61 + at * at * number % 997}" for at in range(90)]
    steps = "".join(f"<li>{' '.join(words[at : at + 15])} and then stir.</li>" for at in (30, 45, 60, 75))
    return RECIPE.format(number=number, intro=" ".join(words[:30]), steps=steps).encode()


@pytest.mark.long
async def test_twenty_recipes_keep_their_headings_however_long_their_template_serves(press: Press) -> None:
    press.template_cache.audit_share = 0.5
    urls = [f"{press.publisher.home}recipes/{number}" for number in range(1, 25)]
    for number, url in enumerate(urls, start=1):
        await press.keep(url, recipe(number))
        await trainings(press)
    assert await produced_by(press, urls[4:]) == {"template@1": 20}
    for url in urls[4:]:
        lines = (await document(press, url)).text.split("\n")
        assert [line for line in lines if len(line) < 15] == ["Ingredients", lines[2], "- 1 tsp salt", "Method"]
    assert (await standing(press))["agreeing"] > 0.99


async def test_every_worker_reads_by_what_one_of_them_learned(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    other = replace(press, template_cache=TemplateCache(SystemClock(), random_from(2)))
    assert await produced_by(other, await print_more(other, 4, 6)) == {"template@1": 2}


async def test_with_templates_off_nothing_is_noted_and_nothing_is_served(press: Press) -> None:
    press.template_cache.is_open = False
    await press.print(6)
    assert await trainings(press) == 0
    assert await press.database.fetchval("select count(*) from learning_hosts") == 0


@pytest.mark.long
async def test_a_template_of_one_port_reads_no_page_of_another(press: Press) -> None:
    def at(port: int, url: str) -> str:
        return url.replace(f"//{press.publisher.host}", f"//{press.publisher.host}:{port}")

    pages = {item.url: press.html(item.url) for item in press.items(8)}
    urls = list(pages)
    for url in urls[:4]:
        await press.keep(at(8001, url), pages[url])
    assert await trainings(press) == 1
    learned_templates = f"{press.publisher.host}:8001"
    assert (await standing(press))["host"] == learned_templates
    for url in urls[4:6]:
        await press.keep(at(8001, url), pages[url])
    for url in urls[6:]:
        await press.keep(at(8002, url), pages[url])
    assert await produced_by(press, [at(8001, url) for url in urls[4:6]]) == {"template@1": 2}
    assert await produced_by(press, [at(8002, url) for url in urls[6:]]) == {"trafilatura": 2}
    await relearn(press.database, learned_templates, "tester")
    assert await trainings(press) == 1
    assert await disable(press.database, learned_templates, "tester") == 1
