"""Tables that a template reads have the rows and columns that the general extractor gives them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

import orjson
import pytest

from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.extraction.templates.guide import SAME_TEXT, Guide, agreement
from headwater.extraction.training import Training, train

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
NAMES = ("timeout", "retries", "proxy", "cache", "charset", "agent", "depth", "delay", "limit", "cookies", "verify")
TYPES = ("integer", "text", "yes or no", "list of names")
CITIES = ("Kampala", "Nairobi", "Lima", "Oslo", "Quito", "Dakar", "Hanoi", "Bergen", "Porto", "Leeds", "Turin", "Cork")


def paragraph(chance: Random, about: str) -> str:
    return (
        f"What {about} does was settled in meeting {chance.randrange(10_000)}, after {chance.randrange(90)} days that "
        f"reader {chance.randrange(10_000)} of the {chance.randrange(10_000)} who had asked waited for an answer."
    )


def row(cells: Sequence[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{one}</{tag}>" for one in cells) + "</tr>"


def page(number: int, table: str, chance: Random, about: str) -> Page:
    before, after = ("".join(f"<p>{paragraph(chance, about)}</p>" for _ in range(4)) for _ in range(2))
    title = f"About {about} in edition {number}"
    html = (
        f"<html><head><title>{title}</title></head><body><nav><a href=/>Home</a></nav><main><h1>{title}</h1>"
        f'<div class="story">{before}{table}{after}</div></main></body></html>'
    )
    return Page(url=f"http://site.test/pages/{number}", body=html.encode())


def reference(number: int) -> Page:
    """Names that are links, types that all pages repeat, empty cells, and cells of several lines."""
    chance = Random(number)
    about = NAMES[number % len(NAMES)]
    rows = [
        [
            f'<a href="/o/{name}">{name}</a>',
            chance.choice(TYPES),
            str(chance.randrange(90)) if at % 2 else "",
            f"since {at}<br>kept" if at % 3 else f"<p>See <code>{name} &gt; {at}</code></p>",
        ]
        for at, name in enumerate(chance.sample(NAMES, 6))
    ]
    head = row(["Name", "Type", "Default", "Notes"], "th")
    table = f"<table><thead>{head}</thead><tbody>{''.join(map(row, rows))}</tbody></table>"
    return page(number, table, chance, about)


def results(number: int) -> Page:
    """No head; cells over several rows and columns, a cell with a bar in it, and a last column that is nearly empty."""
    chance = Random(number)
    about = f"the match of {CITIES[number % len(CITIES)]}"
    rows = []
    for first, second in zip(*[iter(chance.sample(CITIES, 8))] * 2, strict=True):
        goals = f"{chance.randrange(9)} | {chance.randrange(9)}"
        rows += [f"<tr><td rowspan=2>{first}</td><td>{goals}</td><td>{chance.randrange(900)}</td><td></td></tr>"]
        rows += [f"<tr><td colspan=2>against {second}</td><td>{'' if rows[1:] else 'won'}</td></tr>"]
    return page(number, f"<table><tbody>{''.join(rows)}</tbody></table>", chance, about)


def links(number: int) -> Page:
    """All but the head are links."""
    chance = Random(number)
    rows = [
        row([f'<a href="/c/{city}">{city}</a>', f'<a href="/{at}">guide {chance.randrange(9_000)}</a>'])
        for at, city in enumerate(chance.sample(CITIES, 5))
    ]
    table = f"<table><tbody>{row(['City', 'Guide'], 'th')}{''.join(rows)}</tbody></table>"
    return page(number, table, chance, f"travel to {CITIES[number % len(CITIES)]}")


def guided(page: Page, example: Training, *, audits: bool = False) -> Page:
    template = orjson.dumps(example.learned_templates[0].template).decode()
    return Page(url=page.url, body=page.body, guide=Guide(name="template@1", template=template, audits=audits))


def read(page: Page) -> Article:
    found = extract(page, NOW)
    assert isinstance(found, Article)
    return found


Site = Callable[[int], Page]


@pytest.mark.parametrize("site", [reference, results, links])
@pytest.mark.parametrize("learned_templates", [4, 9])
def test_a_table_has_the_rows_and_cells_that_the_general_extractor_gives_it(site: Site, learned_templates: int) -> None:
    example = train([site(number) for number in range(learned_templates)], NOW)
    assert [one.section for one in example.learned_templates] == [""], example.why
    for number in range(20):
        found, general = read(guided(site(number), example)), read(site(number))
        assert found.produced_by == "template@1"
        assert general.text.count("\n|") > 4
        assert found.text == general.text
    assert example.learned_templates[0].agreement == 1


def test_a_table_in_a_place_that_no_page_had_before_is_not_lost() -> None:
    example = train([page(number, "", Random(number), NAMES[number]) for number in range(6)], NOW)
    rows = "".join(row([city, f"{at}"]) for at, city in enumerate(CITIES))
    table = f"<figure class=numbers><table>{rows}</table></figure>"
    unusual = page(9, table, Random(9), "numbers")
    assert "\n| Leeds | 9 |\n" in read(guided(unusual, example)).text


def test_paragraphs_in_a_table_that_lays_out_the_page_stay_paragraphs() -> None:
    def laid_out(number: int) -> Page:
        chance = Random(number)
        story = "".join(f"<p>{paragraph(chance, 'it')}</p>" for _ in range(5))
        menu = "".join(f'<p><a href="/{at}">{name}</a></p>' for at, name in enumerate(NAMES))
        table = f"<table><tr><td>{menu}</td><td>{story}</td></tr><tr><td>{NAMES[0]}</td><td>more</td></tr></table>"
        return page(number, table, chance, CITIES[number])

    example = train([laid_out(number) for number in range(6)], NOW)
    for one in example.learned_templates:
        text = read(guided(laid_out(8), Training((one,)))).text
        assert "|" not in text


HEAD = "A sentence that both of them have, so that they have something in common to begin with."
ROWS = [(city, str(at), NAMES[at % len(NAMES)]) for at, city in enumerate(CITIES)]
GENERAL = "\n".join([HEAD, *(f"| {' | '.join(cells)} |" for cells in ROWS)])


@pytest.mark.parametrize(
    "flattened",
    [
        "\n".join([HEAD, *(cell for cells in ROWS for cell in cells)]),
        "\n".join([HEAD, *("".join(cells) for cells in ROWS)]),
        "\n".join([HEAD, *(" ".join(cells) for cells in ROWS)]),
        "\n".join([HEAD, *(f"| {' | '.join(cells[:2])} |" for cells in ROWS)]),
    ],
    ids=["a cell a line", "run together", "without bars", "a column lost"],
)
def test_agreement_sees_that_a_table_was_flattened(flattened: str) -> None:
    assert agreement(GENERAL, GENERAL) == 1
    assert agreement(flattened, GENERAL) < SAME_TEXT


def test_agreement_does_not_count_tables_that_hold_the_page() -> None:
    paragraphs = [paragraph(Random(at), "it") for at in range(8)]
    laid_out = f"| {' '.join(paragraphs[:4])} | {' '.join(paragraphs[4:])} |\n" * 3
    assert agreement("\n".join(paragraphs * 3), laid_out) > 0.9
