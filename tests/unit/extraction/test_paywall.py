"""Pages that say they are sold keep their text and lose the calls to pay for the rest of it."""

from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest

from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.extraction.paywall import is_sold, without_calls
from headwater.extraction.templates.guide import Guide
from headwater.extraction.training import train

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
SOLD = '{"@type": "NewsArticle", "headline": "The bridge", "isAccessibleForFree": false}'
CALLS = [
    "Subscribe to continue reading",
    "Subscribe to continue reading. Already a subscriber? Log in",
    "To continue reading, subscribe now.",
    "This story is for subscribers. Subscribe now and read everything for four weeks, and cancel when you like.",
    "You have read all your free articles this month.",
    "Already have an account? Sign in here",
    "Sign up for unlimited access to all our stories",
    "Start your free trial",
    "Create an account or sign in to continue with your reading experience.",
    "Continue reading your article with a digital subscription",
    "Become a member to read the full story",
    "Mit Blatt+ weiterlesen",
    "Um weiterzulesen, abonnieren Sie jetzt.",
    "Jetzt abonnieren und vier Wochen lang alles lesen, auf jedem Gerät und jederzeit kündbar.",
    "Sie haben bereits ein Abo? Hier anmelden",
    "Cet article est réservé aux abonnés. Déjà abonné ? Se connecter",
    "Abonnez-vous et lisez tout pendant quatre semaines, sur chaque appareil, sans engagement.",
    "Suscríbete para seguir leyendo. ¿Ya eres suscriptor? Inicia sesión",
    "Abbonati per continuare a leggere",
    "Assine para continuar lendo. Já é assinante? Entrar",
    "Оформите подписку и читайте всё четыре недели",
    "لمتابعة القراءة اشترك الآن",
]
STORY = [
    "Subscribers who log in to continue reading the paper pay four times what they did in 2019, a survey found.",
    "“Subscribe to continue reading,” the screen said, and half of the visitors left within a minute of seeing it.",
    "Already a member of the council, she wants to become its chair when the term of the present one ends in May.",
    "To finish reading the manuscript took him a year and both of his pairs of glasses, he told the audience there.",
    "This story is about members of a club that nobody has ever left, and about those who were never let in.",
    "Join the march at noon and read the names of all who were lost in the mine, the organisers asked their readers.",
    "Register at the town hall for full access to the archive.",
    "Log in",
]


def page(number: int, *, wall: str = "", linked: str = SOLD, meta: str = "") -> Page:
    told = [
        f"On day {line} of case {number} the bridge office said that beam {number * 31 + line} has to be replaced soon."
        for line in range(8)
    ]
    html = (
        f"<html><head><title>The bridge {number}</title>{meta}"
        f'<script type="application/ld+json">{linked}</script></head>'
        f"<body><h1>The bridge {number}</h1><article class=story>{''.join(f'<p>{line}</p>' for line in told)}{wall}"
        f"</article></body></html>"
    )
    return Page(url=f"http://paper.test/news/{number}", body=html.encode())


def read(one: Page) -> Article:
    found = extract(one, NOW)
    assert isinstance(found, Article)
    return found


@pytest.mark.parametrize("call", CALLS)
def test_a_call_to_pay_is_no_text(call: str) -> None:
    assert without_calls(f"A first line.\n{call}\nA last line.") == "A first line.\nA last line."


PRICES = [
    "£1 a month for 6 months, cancel at any time",
    "Only $4.99 per month. Cancel anytime.",
    "€1 for the first 4 weeks, then €12 a month",
    "Nur 9,90 € im Monat, jederzeit kündbar",
    "1 € par mois pendant 3 mois, sans engagement",
    "Desde 2 euros al mes",
]
FIGURES = [
    "£1 a month was what the tenants of the old mill paid for a room until the owner sold it to the harbour office.",
    "He earned $4.99 per month, and his sister nothing.",
    "The fare is £2.",
    "6 months later, the bridge was shut at any time of the day.",
]


@pytest.mark.parametrize("price", PRICES)
def test_a_price_beside_a_call_goes_with_it_and_stays_elsewhere(price: str) -> None:
    story = "The bridge was shut on Monday."
    assert without_calls(f"{story}\n{price}\nSubscribe to continue reading") == story
    assert without_calls(f"{story}\nSubscribe to continue reading\n{price}\nLog in") == story
    assert without_calls(f"{story}\nSubscribe to continue reading. {price}") == story
    assert without_calls(f"{price}\n{story}\nSubscribe to continue reading") == f"{price}\n{story}"


@pytest.mark.parametrize("figure", FIGURES)
def test_a_sum_in_a_story_is_no_offer(figure: str) -> None:
    assert without_calls(f"{figure}\nSubscribe to continue reading") == figure


@pytest.mark.parametrize("line", STORY)
def test_a_story_about_subscriptions_loses_nothing(line: str) -> None:
    text = f"A first line.\n{line}\nA last line."
    assert without_calls(text) == text


def test_a_word_beside_a_call_goes_with_it_and_stays_elsewhere() -> None:
    text = "Log in\nIs the name of the play.\nSubscribe to continue reading\nor\nLog in"
    assert without_calls(text) == "Log in\nIs the name of the play."


@pytest.mark.parametrize(
    ("said", "sold"),
    [
        ({"isAccessibleForFree": False}, True),
        ({"isAccessibleForFree": "False"}, True),
        ({"isAccessibleForFree": "http://schema.org/False"}, True),
        ({"hasPart": {"isAccessibleForFree": False, "cssSelector": ".wall"}}, True),
        ({"hasPart": [{"isAccessibleForFree": "false"}, 5]}, True),
        ({"isAccessibleForFree": True}, False),
        ({"isAccessibleForFree": None, "hasPart": "x"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_page_is_sold_by_its_own_word(said: dict[str, object] | None, *, sold: bool) -> None:
    assert is_sold(said) is sold
    assert is_sold(said, "locked")


WALL = (
    '<div class="wall"><p>Subscribe to continue reading.</p><p>Already a subscriber? <a href=/in>Log in</a></p></div>'
)


def test_the_general_extractor_leaves_the_call_out_and_the_mark_of_the_paywall_in() -> None:
    found = read(page(1, wall=WALL))
    assert found.text == read(page(1)).text
    assert found.linked_data.raw is not None
    assert found.linked_data.raw["isAccessibleForFree"] is False


def test_a_page_that_is_free_is_left_as_it_is() -> None:
    assert "Subscribe to continue reading." in read(page(1, wall=WALL, linked=SOLD.replace("false", "true"))).text


def test_a_template_leaves_the_call_out() -> None:
    example = train([page(number) for number in range(4)], NOW)
    guide = Guide(name="template@1", template=orjson.dumps(example.learned_templates[0].template).decode())
    found = read(replace(page(9, wall="<p>Subscribe to continue reading.</p>"), guide=guide))
    assert (found.produced_by, found.text) == ("template@1", read(page(9)).text)


def test_a_page_may_say_by_its_tier_that_it_is_sold() -> None:
    meta = '<meta property="article:content_tier" content="locked">'
    assert "Subscribe" not in read(page(1, wall=WALL, linked="{}", meta=meta)).text
