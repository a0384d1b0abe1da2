"""The archive on a real database against a model in plain Python: pages, claims, copies, refetches and withdrawals."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.integration.archive.shelf import SOURCE, Shelf, broken, key_of

from headwater.archive.documents import Duplicate, Kept, Stored, UnchangedDocument
from headwater.archive.reads import versions_of
from headwater.database.pool import Database
from headwater.search.question import Filters
from headwater.search.search import search
from headwater.urls.canonical import canonicalise

URLS = [f"https://h{n}.example/" for n in range(5)]
# The first two are forms of one text, the third another one; the last is too short to be compared.
WORDS = ("alpha", "delta", "beta", "gamma")
TEXTS = {word: f"{word} " + "filling " * 55 for word in WORDS} | {"gamma": "gamma short"}
SIMHASHES = {"alpha": 0b1, "delta": 0b11, "beta": 2**64 - 1, "gamma": 0}
TABLES = ("documents", "document_versions", "outbox", "url_frontier")
# More than an hour, so that dates of publication decide nothing.
BETWEEN = timedelta(hours=2)

ENTRY = """
    INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority, discovered_at)
    VALUES ($1, $2, $3, $4, $5, 'feed', 5, $6)"""


class Step(NamedTuple):
    """`word` None: the page is withdrawn."""

    url: str
    word: str | None = None
    title: str = ""
    claims: str | None = None


keeps = st.builds(
    Step,
    st.sampled_from(URLS),
    st.sampled_from(WORDS),
    st.sampled_from(["One", "Two"]),
    st.one_of(st.none(), st.sampled_from(URLS)),
)
withdrawals = st.sampled_from([Step(url) for url in URLS])


def is_comparable(word: str) -> bool:
    return word != "gamma"


def is_one_text(one: str, other: str) -> bool:
    return one == other or {one, other} == {"alpha", "delta"}


@dataclass
class Known:
    word: str
    title: str
    claims: str | None
    since: datetime
    first_seen: datetime
    story: str
    past: int = 0
    is_deleted: bool = False


@dataclass
class Model:
    """`found`: when each page was discovered."""

    found: dict[str, datetime]
    known: dict[str, Known] = field(default_factory=dict)

    def keep(self, step: Step, now: datetime) -> bool:
        """Whether it says anything new."""
        assert step.word is not None
        before, claims = self.known.get(step.url), None if step.claims == step.url else step.claims
        said = (step.word, step.title, claims)
        if before and not before.is_deleted and (before.word, before.title, before.claims) == said:
            return False
        since, story, first_seen, past = self.found[step.url], step.word, now, 0
        if before:
            since, story = (before.since, before.story) if goes_on(before, step.word) else (now, step.word)
            past = before.past + ((before.word, before.title, before.claims) != said)
            first_seen = before.first_seen
        self.known[step.url] = Known(step.word, step.title, claims, since, first_seen, story, past)
        self.inherit(step.url)
        return True

    def inherit(self, url: str) -> None:
        """A page is as old as the oldest form of it."""
        one = self.known[url]
        forms = [x.since for other, x in self.known.items() if x.claims == url and self.is_believed(other)]
        one.since = min([one.since, *forms])
        if one.claims and self.is_believed(url):
            target = self.known[one.claims]
            target.since = min(target.since, one.since)

    def withdraw(self, url: str) -> bool:
        one = self.known.get(url)
        if one is None or one.is_deleted:
            return False
        one.is_deleted = True
        return True

    def is_believed(self, url: str) -> bool:
        one = self.known[url]
        named = self.known.get(one.claims or "")
        if one.is_deleted or named is None or named.is_deleted or named.claims:
            return False
        return is_one_text(one.word, named.word)

    def original_of(self, url: str) -> str | None:
        """None: it is one itself, or gone."""
        one = self.known[url]
        if one.is_deleted:
            return None
        if self.is_believed(url):
            assert one.claims is not None
            return self.original_of(one.claims) or one.claims
        if not is_comparable(one.word):
            return None
        first = min(self.tellers_of(one.word), key=self.place_of)
        return None if first == url else first

    def tellers_of(self, word: str) -> Iterable[str]:
        return (
            url
            for url, one in self.known.items()
            if one.word == word and not one.is_deleted and not self.is_believed(url)
        )

    def place_of(self, url: str) -> tuple[Any, ...]:
        return (self.known[url].since, self.known[url].first_seen, *key_of(url))


def goes_on(before: Known, word: str) -> bool:
    """Whether a page tells its story on, or begins another one."""
    if before.word == word:
        return True
    if is_comparable(word) and not is_comparable(before.word):
        return False
    return not is_comparable(word) or is_one_text(before.story, word) or not is_comparable(before.story)


async def follow(database: Database, found: list[str], steps: list[Step]) -> None:
    await database.execute("; ".join(f"DELETE FROM {table}" for table in TABLES))
    shelf = Shelf(database)
    days = {url: shelf.now - timedelta(days=30 - day) for day, url in enumerate(found)}
    for url, day in days.items():
        await database.execute(ENTRY, *key_of(url), canonicalise(url).host, url, SOURCE, day)
    model = Model(days)
    for step in steps:
        shelf.wait(BETWEEN.total_seconds())
        before = await said_by_page(database)
        await take(shelf, model, step)
        after = await said_by_page(database)
        assert {url: said for url, said in after.items() if url != step.url and said != before[url]} == {}
        assert await broken(database) == []
        await same_documents(shelf, model)
    await same_answers(database, model)


async def take(shelf: Shelf, model: Model, step: Step) -> None:
    if step.word is None:
        assert await shelf.tombstone(step.url) == model.withdraw(step.url)
        return
    is_new, claims = step.url not in model.known, None if step.claims == step.url else step.claims
    fields = {"title": step.title, "claims": claims, "simhash": SIMHASHES[step.word]}
    kept = await shelf.keep(step.url, TEXTS[step.word], **fields)
    is_news = model.keep(step, shelf.now)
    assert same_outcome(kept, is_news, is_new, model.original_of(step.url))


def same_outcome(kept: Kept, is_news: bool, is_new: bool, original: str | None) -> bool:
    match kept:
        case UnchangedDocument():
            return not is_news
        case Duplicate(of=of):
            return is_news and original is not None and of == key_of(original)
        case Stored(is_new=stored_new):
            return is_news and original is None and stored_new == is_new


async def said_by_page(database: Database) -> dict[str, tuple[Any, ...]]:
    """What no page may change of another one."""
    rows = await database.fetch(
        "SELECT url, content_hash, title, claimed_url, source_id, deleted_at, first_seen_at FROM documents"
    )
    return {row["url"]: tuple(row) for row in rows}


async def same_documents(shelf: Shelf, model: Model) -> None:
    rows = await shelf.database.fetch(
        "SELECT url, deleted_at, duplicate_of, is_claim_believed, told_since FROM documents"
    )
    assert {row["url"] for row in rows} == set(model.known)
    for row in rows:
        url = row["url"]
        one, original = model.known[url], model.original_of(url)
        of = key_of(original).url_hash if original else None
        assert (row["deleted_at"] is not None, row["duplicate_of"]) == (one.is_deleted, of), url
        assert (row["is_claim_believed"], row["told_since"]) == (model.is_believed(url), one.since), url
        assert len(await versions_of(shelf.database, key_of(url))) == one.past + 1


async def same_answers(database: Database, model: Model) -> None:
    for word in WORDS:
        says_so = {url for url, one in model.known.items() if one.word == word and not one.is_deleted}
        delivered = {url for url in says_so if model.original_of(url) is None}
        assert {hit.url for hit in (await search(database, word)).hits} == delivered
        assert {hit.url for hit in (await search(database, word, Filters(duplicates=True))).hits} == says_so


@pytest.mark.long
def test_any_order_of_pages_claims_copies_and_withdrawals_ends_as_the_model_says(database_url: str) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(Database.connect(database_url, size=1))

        @settings(
            max_examples=60,
            suppress_health_check=list(HealthCheck),
            phases=set(Phase) - {Phase.explain},
        )
        @given(st.permutations(URLS), st.lists(st.one_of(keeps, keeps, keeps, withdrawals), min_size=1, max_size=14))
        def check(found: list[str], steps: list[Step]) -> None:
            runner.run(follow(database, found, steps))

        check()
        runner.run(database.close())
