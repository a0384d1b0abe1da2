import pytest

from headwater.extraction.templates.interstitials import asks_for_consent, says_nothing_is_here, sells_the_rest

CONSENTS = [
    "We and our partners use cookies with your consent. See our privacy page on cookies and consent.",
    "Mit Ihrer Einwilligung speichern wir Cookies. Die Einwilligung endet im Datenschutz jederzeit.",
    "С вашего согласия мы храним файлы cookie. Согласие отзывают на странице о конфиденциальности.",
    "نستخدم ملفات تعريف الارتباط بموافقتك، ويمكنك سحب موافقتك في صفحة الخصوصية.",
]
OFFERS = [
    "This story is for subscribers. Subscribe to read on.",
    "Nur für Abonnenten. Jetzt abonnieren und weiterlesen.",
    "Solo para suscriptores. Suscríbase y siga leyendo.",
    "Para assinantes. Assine e leia tudo.",
    "Только для подписчиков. Оформите подписку.",
    "هذا المقال للمشتركين. اشترك الآن.",
]
MISSING = ["Page not found", "Seite nicht gefunden | Bote", "Страница не найдена", "الصفحة غير موجودة"]


@pytest.mark.parametrize("text", CONSENTS, ids=["en", "de", "ru", "ar"])
def test_a_request_for_consent_is_known_in_many_languages(text: str) -> None:
    assert asks_for_consent(text, len(text.split()))


def test_a_story_about_cookies_is_no_request() -> None:
    story = "The court spoke of cookies. " + "Much else was said that day and written down. " * 20
    assert not asks_for_consent(story, len(story.split()))


@pytest.mark.parametrize("text", OFFERS, ids=["en", "de", "es", "pt", "ru", "ar"])
def test_an_offer_is_known_in_many_languages(text: str) -> None:
    assert sells_the_rest(text, len(text.split()), is_short=False)


def test_a_long_story_may_end_with_an_offer_unless_it_is_short_for_its_host() -> None:
    story = "Much was said that day and written down. " * 40 + OFFERS[0]
    words = len(story.split())
    assert not sells_the_rest(story, words, is_short=False)
    assert sells_the_rest(story, words, is_short=True)


@pytest.mark.parametrize("title", MISSING, ids=["en", "de", "ru", "ar"])
def test_a_title_says_that_nothing_is_here(title: str) -> None:
    assert says_nothing_is_here(("Harbour News", title))


def test_other_titles_do_not() -> None:
    assert not says_nothing_is_here(("Harbour News", "Lost ship found after a hundred years", ""))
