"""The archive on a real database against a model in plain Python: any order of storing and deleting pages."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.integration.archive.shelf import Shelf, broken, key_of

from headwater.archive.document import Duplicate, Kept, Stored, Unchanged
from headwater.archive.reads import versions_of
from headwater.database.pool import Database
from headwater.search.question import Filters
from headwater.search.search import search

URLS = [f"https://h{n}.example/" for n in range(4)]
# Two long enough to have duplicates, and one that is too short.
WORDS = ("alpha", "beta", "gamma")
TEXTS = {"alpha": "alpha " + "filling " * 55, "beta": "beta " + "filling " * 55, "gamma": "gamma short"}
TABLES = ("documents", "document_versions", "outbox")

keeps = st.tuples(st.sampled_from(URLS), st.sampled_from(WORDS), st.sampled_from(["One", "Two"]))
deaths = st.tuples(st.sampled_from(URLS), st.none(), st.none())


@dataclass
class Known:
    word: str
    title: str
    version: int
    age: int
    past: int = 0
    is_deleted: bool = False
    duplicate_of: str | None = None

    @property
    def is_delivered(self) -> bool:
        return not self.is_deleted and self.duplicate_of is None

    @property
    def leads(self) -> bool:
        return self.is_delivered and self.word != "gamma"


@dataclass
class Model:
    known: dict[str, Known] = field(default_factory=dict)
    told: list[tuple[str, int, str]] = field(default_factory=list)

    def keep(self, url: str, word: str, title: str) -> Kept:
        before = self.known.get(url)
        if before and not before.is_deleted and (before.word, before.title) == (word, title):
            return Unchanged(before.version)
        original = next(
            (other for other, one in self.known.items() if other != url and one.leads and one.word == word), None
        )
        after = Known(word, title, 1, len(self.known), duplicate_of=original)
        if before:
            has_changed = (before.word, before.title) != (word, title)
            after.version, after.age, after.past = before.version + 1, before.age, before.past + has_changed
        self.known[url] = after
        if original is None or (before and before.is_delivered):
            self.told.append((url, after.version, "delete" if original else "upsert"))
        if before and before.leads and before.word != word:
            self.crown_heir_of(url)
        return Duplicate(after.version, key_of(original)) if original else Stored(after.version, before is None)

    def tombstone(self, url: str) -> bool:
        one = self.known.get(url)
        if one is None or one.is_deleted:
            return False
        was_delivered, led = one.is_delivered, one.leads
        one.version, one.is_deleted, one.duplicate_of = one.version + 1, True, None
        if was_delivered:
            self.told.append((url, one.version, "delete"))
        if led:
            self.crown_heir_of(url)
        return True

    def crown_heir_of(self, url: str) -> None:
        copies = sorted((one.age, other) for other, one in self.known.items() if one.duplicate_of == url)
        if copies:
            heir = copies[0][1]
            for _, other in copies:
                self.known[other].duplicate_of = heir
            self.known[heir].duplicate_of = None
            self.known[heir].version += 1
            self.told.append((heir, self.known[heir].version, "upsert"))


async def follow(database: Database, steps: list[tuple[str, str | None, str | None]]) -> None:
    await database.execute("; ".join(f"DELETE FROM {table}" for table in TABLES))
    shelf, model = Shelf(database), Model()
    for url, word, title in steps:
        if word is None or title is None:
            assert await shelf.tombstone(url) == model.tombstone(url)
        else:
            assert await shelf.keep(url, TEXTS[word], title=title) == model.keep(url, word, title)
        assert await broken(database) == []
    assert await shelf.told() == model.told
    await same_documents(shelf, model)
    await same_answers(database, model)


async def same_documents(shelf: Shelf, model: Model) -> None:
    rows = await shelf.database.fetch("SELECT url, version, deleted_at, duplicate_of FROM documents")
    assert {row["url"] for row in rows} == set(model.known)
    for row in rows:
        one = model.known[row["url"]]
        of = key_of(one.duplicate_of).url_hash if one.duplicate_of else None
        assert (row["version"], row["deleted_at"] is not None, row["duplicate_of"]) == (one.version, one.is_deleted, of)
        assert len(await versions_of(shelf.database, key_of(row["url"]))) == one.past + 1


async def same_answers(database: Database, model: Model) -> None:
    for word in WORDS:
        says_so = {url for url, one in model.known.items() if one.word == word and not one.is_deleted}
        delivered = {url for url in says_so if model.known[url].is_delivered}
        assert {hit.url for hit in (await search(database, word)).hits} == delivered
        assert {hit.url for hit in (await search(database, word, Filters(duplicates=True))).hits} == says_so


def test_any_order_of_storing_and_deleting_ends_as_the_model_says(database_url: str) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(Database.connect(database_url, size=1))

        @settings(
            max_examples=60,
            suppress_health_check=list(HealthCheck),
            phases=set(Phase) - {Phase.explain},
        )
        @given(st.lists(st.one_of(keeps, keeps, deaths), min_size=1, max_size=14))
        def check(steps: list[tuple[str, str | None, str | None]]) -> None:
            runner.run(follow(database, steps))

        check()
        runner.run(database.close())
