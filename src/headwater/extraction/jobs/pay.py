"""Pay as people write it: amounts, a currency where one is named, and the time it is paid for."""

import re
from decimal import Decimal, InvalidOperation
from functools import cache

import pycountry

from headwater.extraction.jobs.vacancy import Pay
from headwater.extraction.jobs.vocabulary import Vocabulary
from headwater.languages import fold

_SYMBOLS = {
    "US$": "USD",
    "C$": "CAD",
    "CA$": "CAD",
    "A$": "AUD",
    "AU$": "AUD",
    "NZ$": "NZD",
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₦": "NGN",
    "₽": "RUB",
    "₱": "PHP",
    "₺": "TRY",
    "KSh": "KES",
}
# A bare dollar says which one only where the job is.
_DOLLARS = {"US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "LR": "LRD", "JM": "JMD"}

_AMOUNT = r"\d{1,3}(?:[.,'’ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d{1,9}(?:[.,]\d{1,2})?(?!\d)"
_ONE = re.compile(rf"(?<![\d.,])({_AMOUNT})(\s?[kK]\b)?")
_MONEY = re.compile(r"(US\$|CA\$|C\$|AU\$|A\$|NZ\$|[$€£₹₦₽₱₺]|KSh|\b[A-Z]{3}\b)")
_NO_LOWEST = re.compile(r"\b(?:up to|maximum|bis zu|jusqu'a|hasta|ate)\b")
_NO_HIGHEST = re.compile(r"\b(?:from|starting at|minimum|at least|ab|a partir de|desde)\b")
_LABEL = re.compile(
    r"\b(?:salary|compensation|remuneration|stipend|gross pay|gehalt|vergütung|salaire|rémunération|sal[aá]rio)\b",
    re.IGNORECASE,
)
_WINDOW = 120
_MOST_AMOUNTS = 2

PERIODS = Vocabulary(
    {
        "hour": ("hour", "hourly", "per hour", "ph", "stunde", "heure", "hora"),
        "day": ("day", "daily", "per day", "per diem", "tag", "jour", "día", "dia"),
        "week": ("week", "weekly", "woche", "semaine", "semana"),
        "month": (
            "month",
            "monthly",
            "pcm",
            "monat",
            "monatlich",
            "mois",
            "mensuel",
            "mes",
            "mensual",
            "mês",
            "mensal",
        ),
        "year": ("year", "yearly", "annum", "per annum", "annual", "annually", "pa", "p a", "jahr", "an", "año", "ano"),
    }
)


def pay_in(text: str, country: str | None = None) -> Pay | None:
    """The offer in a text about pay; no amount, no pay."""
    amounts = [amount for found in _ONE.finditer(text) if (amount := _amount(found)) is not None][:_MOST_AMOUNTS]
    if not amounts:
        return None
    low, high = min(amounts), max(amounts)
    # "45–60k": the thousands belong to both.
    if low < 1000 <= high and low * 1000 <= high:
        low *= 1000
    plain = fold(text)
    return Pay(
        None if len(amounts) == 1 and _NO_LOWEST.search(plain) else low,
        None if len(amounts) == 1 and _NO_HIGHEST.search(plain) else high,
        currency_in(text, country),
        next(iter(PERIODS.found_in(text)), ""),
    )


def pay_in_prose(text: str, country: str | None = None) -> Pay | None:
    """Only after a word for pay, and only with a currency: other figures in a description are no salary."""
    for label in _LABEL.finditer(text):
        pay = pay_in(text[label.end() : label.end() + _WINDOW].partition("\n")[0], country)
        if pay and pay.currency:
            return pay
    return None


def in_full(amount: Decimal) -> str:
    """`40000`, never `4E+4`."""
    return f"{amount:f}"


def currency_in(text: str, country: str | None = None) -> str:
    for found in _MONEY.findall(text):
        currency = _DOLLARS.get(country or "", "") if found == "$" else _SYMBOLS.get(found, found)
        if currency in _currencies():
            return str(currency)
    return ""


@cache
def _currencies() -> frozenset[str]:
    return frozenset(currency.alpha_3 for currency in pycountry.currencies)


def _amount(found: re.Match[str]) -> Decimal | None:
    said = re.sub(r"['’\s]", "", found[1])
    # The last separator is a decimal one only if no full group of three follows it.
    decimals = re.search(r"[.,](\d{1,2})$", said)
    whole = said[: decimals.start()] if decimals else said
    try:
        value = Decimal(re.sub(r"[.,]", "", whole) + (f".{decimals[1]}" if decimals else ""))
    except InvalidOperation:
        return None
    return value * 1000 if found[2] else value
