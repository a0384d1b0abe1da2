"""Texts that stand where a story should: a request for consent, an offer to subscribe, a word that nothing is here.

Known by their words, so only in the languages written down here; the shape of a page is the server's to judge.
"""

from collections.abc import Iterable

from headwater.extraction.page_type import is_soft_404

# Beginnings of words that hardly stand inside others. Counted one by one: a pattern of them all takes twenty times as
# long, on every page.
_CONSENT = (
    "cookie", "consent", "privacy", "privacid", "gdpr", "datenschutz", "einwillig", "zustimm", "confidentialit",
    "toestemming", "samtycke", "riservatezza", "согласи", "конфиденциальн", "الخصوصية", "موافقت", "تعريف الارتباط",
)  # fmt: skip
_FEWEST_CONSENTS, _WORDS_PER_CONSENT = 4, 25
_OFFER = (
    "subscri", "abonn", "abbona", "suscri", "suscrí", "assinant", "assinatur", "assine ", "prenumer", "подпис",
    "اشترك", "اشتراك", "مشترك",
)  # fmt: skip
_FEWEST_OFFERS, _WORDS_PER_OFFER = 2, 100


def asks_for_consent(text: str, words: int) -> bool:
    return _mentions(text, _CONSENT) >= max(_FEWEST_CONSENTS, words / _WORDS_PER_CONSENT)


def sells_the_rest(text: str, words: int, *, is_short: bool) -> bool:
    """A story of usual length may speak of subscriptions, and end with an offer."""
    offers = _mentions(text, _OFFER)
    return offers >= _FEWEST_OFFERS and (is_short or words <= offers * _WORDS_PER_OFFER)


def says_nothing_is_here(titles: Iterable[str]) -> bool:
    """By its titles alone: below them such a page may hold as many words as a story, in teasers."""
    return any(is_soft_404(title, words=0) for title in titles)


def _mentions(text: str, beginnings: Iterable[str]) -> int:
    folded = text.casefold()
    return sum(folded.count(beginning) for beginning in beginnings)
