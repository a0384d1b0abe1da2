"""Pages that say they are sold, and the calls to pay that stand where their text breaks off. Pure.

Asked only of pages that mark themselves, so that a story about subscriptions loses nothing; and there a line goes only
if all of it is a call: it begins as an order, a question or a notice to the reader.
"""

import re
from collections.abc import Mapping
from typing import Any

_EDGES = " -.!?:…>»"
_LOCKED = frozenset({"locked", "metered"})
_LONGEST_CALL = 240
_MOST_WORDS = 26
_LAST_LINES, _LAST_CHARACTERS = 4, 2_000
_SENTENCE = re.compile(r"(?<=[.!?…:|؟])\s+|\s+[|·•–—]\s+")
# Alternatives, each from the beginning of a sentence as `casefold` writes it: English, German, French, Spanish,
# Italian, Portuguese, Dutch, Swedish, Russian, Arabic.
_CALLS = r"""
(?:please |simply |just )?(?:subscribe|sign up|register|log ?in|sign in|join|upgrade)\b.{0,60}\b(?:continue|keep) reading\b
(?:please )?(?:subscribe|sign up|register|join|upgrade|log ?in|sign in|become a (?:member|subscriber))\b.{0,60}\b(?:unlock|read (?:the (?:full|rest|whole)|this|on|more|everything))\b
(?:please )?(?:subscribe|sign up|register|join|upgrade)\b.{0,60}\b(?:full|unlimited|digital) access(?: to (?:this|all|our)|\W*$)
to (?:continue|keep|finish) reading(?: (?:this|the) (?:article|story))?\W*(?:$|please|subscribe|log|sign|register|become|start)
(?:continue|keep) reading (?:with|by|for) (?:a |an |your )?(?:\w+ ){0,2}(?:subscription|subscribing|trial|account|free|just|only)\b
(?:this|the (?:full|rest of (?:this|the)))(?: \w+)? (?:article|story|content|text) is (?:\w+ ){0,3}(?:for|to) .{0,20}\b(?:subscriber|member)s\b
(?:are you )?already (?:have )?(?:an? )?(?:\w+ )?(?:subscriber|member|subscribed|account|subscription)\W*(?:$|(?:please |then )?(?:log|sign)\b)
(?:you have|you.ve) (?:reached|read|used) .{0,40}\bfree (?:articles|stories)\b
(?:unlock|get) (?:this|unlimited|instant|full) (?:\w+ )?(?:article|story|access)\W*(?:$|for|with|to (?:this|all|our))
start (?:your|a) free trial\b|create an account\b.{0,40}\bto continue\b|continue reading .{0,30}\bsubscription\b
um (?:diesen (?:artikel|text|beitrag) )?(?:weiter ?zu ?lesen|ganz zu lesen)\b|jetzt (?:weiterlesen|abonnieren)\b|weiterlesen mit\b|mit \S+ weiterlesen\W*$
(?:abonnieren|testen|registrieren) sie\b.{0,60}\b(?:weiter ?zu ?lesen|weiterlesen|freischalten)
(?:dieser|der ganze) (?:artikel|text|beitrag) ist .{0,20}\b(?:abonnent|abonnement|mitglieder)
(?:sind sie |sie (?:sind|haben) )?(?:bereits|schon) (?:ein )?(?:abonnent\w*|abo|abonnement|mitglied|konto)\W*(?:$|(?:hier |jetzt )?(?:anmelden|einloggen))
abonnez-vous\b.{0,60}\b(?:lire|lisez|suite|accéder)\b|pour (?:lire la suite|continuer (?:la|votre) lecture|lire cet article)\b
(?:cet article|la suite|ce contenu) est réservée? aux abonnés|(?:vous êtes )?déjà abonnée?\W*(?:$|connectez|se connecter|identifiez)
suscr[ií]b\w*\b.{0,60}\b(?:leer|leyendo|léalo)\b|para (?:seguir|continuar) leyendo\b
este (?:artículo|contenido) es .{0,20}\bsuscriptores\b|¿?(?:ya )?(?:eres|es usted) (?:ya )?suscriptora?\W*(?:$|inici)
abbonati\b.{0,60}\b(?:leggere|continuare)\b|per continuare a leggere\b|(?:sei )?già abbonat\w\W*(?:$|accedi)
(?:questo|l.) ?(?:articolo|contenuto) è .{0,20}\babbonati\b
assine\b.{0,60}\b(?:ler|lendo|leia)\b|para continuar (?:lendo|a ler)\b|já (?:é|sou) assinante\W*(?:$|entre|entrar|faça)
est[ea] (?:artigo|conteúdo|matéria) é .{0,20}\bassinantes\b
abonneer\b.{0,60}\blezen\b|om verder te lezen\b|(?:ben je |bent u )?al abonnee\W*(?:$|log)
prenumerera\b.{0,60}\bläsa\b|för att läsa vidare\b|redan prenumerant\W*(?:$|logga)
(?:подпишитесь|оформите подписку)\b.{0,60}чита|чтобы (?:читать дальше|продолжить чтение)\b|уже (?:есть подписка|подписаны)\W*(?:$|вой)
этот (?:текст|материал) .{0,20}для подписчиков
اشترك\b.{0,60}(?:اقرأ|قراءة|القراءة)|لمتابعة القراءة|هذا المقال للمشتركين
"""  # noqa: E501
# What stands beside a call and is none alone: a story may have a part called "Sign in".
_COMPANIONS = r"""
(?:please )?(?:subscribe|log ?in|sign in|sign up|register)(?: (?:now|here|today))?
(?:you can )?cancel (?:at )?any ?time|or
(?:hier |jetzt )?(?:anmelden|einloggen|abonnieren|registrieren)|jederzeit kündbar|oder
se connecter|connectez-vous|s.abonner|je m.abonne|sans engagement|ou
(?:inicia|iniciar|inicie) sesión|suscríbete|suscríbase|o
accedi|abbonati|entrar|fazer login|faça login|assine(?: já| agora)?
inloggen|logga in|prenumerera|войти|подписаться|تسجيل الدخول|اشترك الآن
"""
# What is to be paid and how long, in clauses of few words, as "£1 a month for 6 months, cancel at any time".
_CLAUSE = re.compile(r"[,;.(]\s+|\s+(?:and|und|et|y|e|en|och|и) |\)$")
_LONGEST_CLAUSE = 9
_PRICE = re.compile(
    r"(?:(?:only|just|from|for|then|now|pay|nur|ab|für|danach|dann|seulement|dès|puis|à partir de|solo|sólo|desde|luego"
    r"|por|depois|da|poi|a partire da|voor|slechts|daarna|från|bara|sedan|от|всего|затем|за) )*"
    r"(?:[£$€¥₹]|us\$|chf|eur|usd|gbp|kr|r\$)? ?\d+(?:[.,]\d{1,2})? ?"
    r"(?:[£$€¥₹₽]|chf|eur|euros?|usd|dollars?|gbp|pounds?|pence|p|cents?|kr|zł|руб\w*)?(?= |/|$)"
)
_MONEY = re.compile(r"[£$€¥₹₽]|\b(?:chf|eur|euros?|usd|dollars?|gbp|pounds?|pence|\d+p|cents?|kr|zł|руб\w*)\b")
_PERIOD = re.compile(
    r"\b(?:days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|an|ans|année|días?|semanas?"
    r"|mes|meses|años?|dias?|mês|anos?|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|dagen|weken|maand|maanden|jaar|veckor"
    r"|månad|månader|år|недел\w*|месяц\w*|год\w*)\b"
)
_CALL, _COMPANION = (re.compile(written.strip().replace("\n", "|")) for written in (_CALLS, _COMPANIONS))


def is_sold(linked: Mapping[str, Any] | None, content_tier: str = "") -> bool:
    """By its own word: `isAccessibleForFree` of the article or of a part of it, or the tier of its content."""
    parts = (linked or {}).get("hasPart")
    nodes = [linked, *(parts if isinstance(parts, list) else [parts])]
    return content_tier.strip().lower() in _LOCKED or any(_says_no(node) for node in nodes)


def is_said_to_be_free(linked: Mapping[str, Any] | None, content_tier: str = "") -> bool:
    said = (linked or {}).get("isAccessibleForFree")
    is_free = said is True or (isinstance(said, str) and said.rpartition("/")[2].strip().lower() in ("true", "yes"))
    return is_free or content_tier.strip().lower() == "free"


def ends_at_a_wall(text: str) -> bool:
    """Whether one of its last lines calls for paying or logging in."""
    return any(map(_is_call, text[-_LAST_CHARACTERS:].split("\n")[-_LAST_LINES:]))


def without_calls(text: str) -> str:
    """For a page that is sold: its text without the lines that call for paying or logging in."""
    lines = text.split("\n")
    called = {at for at, line in enumerate(lines) if _is_call(line)}
    beside = {at for at, line in enumerate(lines) if called and _is_companion(line)}
    left_out = called | _joined(called, beside)
    return "\n".join(line for at, line in enumerate(lines) if at not in left_out)


def _says_no(node: object) -> bool:
    said = node.get("isAccessibleForFree") if isinstance(node, Mapping) else None
    return said is False or (isinstance(said, str) and said.rpartition("/")[2].strip().lower() in ("false", "no"))


def _is_call(line: str) -> bool:
    """Every sentence of it, or what stands beside one."""
    if len(line) > _LONGEST_CALL:
        return False
    sentences = [one for one in _SENTENCE.split(line.casefold().strip()) if one]
    calls = [one for one in sentences if _CALL.match(one) and len(one.split()) <= _MOST_WORDS]
    return bool(calls) and all(one in calls or _is_companion(one) for one in sentences)


def _is_companion(line: str) -> bool:
    said = line.casefold().strip(_EDGES)
    return _COMPANION.fullmatch(said) is not None or _is_offer(said)


def _is_offer(said: str) -> bool:
    """A price with its time, and nothing beside it but more of them and companions."""
    clauses = [one.strip(_EDGES) for one in _CLAUSE.split(said) if one.strip(_EDGES)]
    priced = [one for one in clauses if _is_price(one)]
    return bool(priced) and all(one in priced or _COMPANION.fullmatch(one) for one in clauses)


def _is_price(clause: str) -> bool:
    is_short = len(clause.split()) <= _LONGEST_CLAUSE
    return is_short and bool(_PRICE.match(clause) and _MONEY.search(clause) and _PERIOD.search(clause))


def _joined(called: set[int], beside: set[int]) -> set[int]:
    """Of the lines `beside`, those in a row that a call begins or ends. Each is looked at once from either end."""
    joined: set[int] = set()
    for step in (-1, 1):
        before = set(called)
        for at in sorted(beside - called, reverse=step < 0):
            if at - step in before:
                before.add(at)
        joined |= before
    return joined - called
