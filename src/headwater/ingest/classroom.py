"""Beside the journeys of a worker: it hands in what it saw of hosts, and learns from their stored pages."""

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

from headwater.archive.document import Key
from headwater.archive.raw import KeptBody, newest_body
from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import DatabaseDown, DependencyDown, QueryFailed, UsageError, as_fields
from headwater.extract.children import Children, Done
from headwater.extract.lessons import Lesson, lesson_from, sent_task
from headwater.extract.page import Page
from headwater.ingest.context import Context
from headwater.ingest.reading import page_of
from headwater.ingest.stored_pages import lease_of, response_of
from headwater.learning.shelf import Shelf
from headwater.learning.store import Due, Report, begin_lesson, end_lesson, hand_in
from headwater.log import Logger
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.ingest")

EVERY_SECONDS = 5.0
FIGURES_EVERY = 6


@dataclass(frozen=True, slots=True)
class Classroom:
    database: Database
    children: Children
    context: Context
    shelf: Shelf
    product_token: str
    clock: Clock
    log: Logger

    async def run(self) -> None:
        """Until cancelled; what was seen last is handed in then."""
        try:
            for number in count(1):
                await self.clock.sleep(EVERY_SECONDS)
                try:
                    # Mere figures can wait: on a busy fleet they would be written more often than read.
                    await self.hand_in(is_all=number % FIGURES_EVERY == 0)
                    while await self.teach_next():
                        pass
                except (DatabaseDown, QueryFailed, DependencyDown) as error:
                    # Pages are read the general way meanwhile, and the next round tries again.
                    self.log.warning("lesson_failed", **as_fields(error))
        finally:
            with suppress(DatabaseDown, QueryFailed):
                await self.hand_in()

    async def hand_in(self, *, is_all: bool = True) -> None:
        tallies = self.shelf.taken(is_all=is_all)
        templates = {host: self.shelf.changed_templates_of(host[1]) for host in tallies}
        active = await hand_in(self.database, Report(tallies, templates))
        for host, versions in active.items():
            if versions != self.shelf.versions_of(host[1]):
                self.shelf.forget(host[1])

    async def teach_next(self) -> bool:
        """The host whose lesson is due first; false if there is none."""
        due = await begin_lesson(self.database)
        if due is None:
            return False
        lesson = await self._lesson(due)
        await end_lesson(self.database, due, lesson)
        self.shelf.forget(due.host)
        return True

    async def _lesson(self, due: Due) -> Lesson:
        now = await self.database.fetchval(queries.now)
        bodies = [body for one in due.hashes if (body := await newest_body(self.database, Key(due.bucket, one)))]
        # Before ports were told apart, all of them were collected under the host's name.
        pages = [await self._page(body, due) for body in bodies if canonicalise(body.raw.url).site == due.host]
        outcome = await self.children.run(sent_task("teach", pages, now))
        if not isinstance(outcome, Done):
            return Lesson((), "its pages could not be read together")
        try:
            return lesson_from(outcome.value)
        except UsageError as error:
            return Lesson((), error.what)

    async def _page(self, body: KeptBody, due: Due) -> Page:
        page = page_of(response_of(body), await self.context.known_of(lease_of(body)), self.product_token)
        # Audits are for pages on their way; here the old template only has to show whom it would serve.
        guide = None if due.is_asked else page.guide
        return replace(page, guide=guide and replace(guide, audits=False))
