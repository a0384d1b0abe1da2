"""Beside the journeys of a worker: it hands in what it saw of hosts, and learns from their stored pages."""

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

from headwater.archive.raw import KeptBody, newest_body
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import DatabaseDown, DependencyDown, QueryFailed, UsageError, as_fields
from headwater.extraction.page import Page
from headwater.extraction.pool.extraction_pool import Done, ExtractionPool
from headwater.extraction.training import Training, encode_task, training_from
from headwater.ingest.page_context import Context
from headwater.ingest.page_reader import page_of
from headwater.ingest.stored_pages import lease_of, response_of
from headwater.learning.store import Due, Report, begin_training, end_training, hand_in
from headwater.learning.template_cache import TemplateCache
from headwater.log import Logger
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.ingest")

EVERY_SECONDS = 5.0
FIGURES_EVERY = 6


@dataclass(frozen=True, slots=True)
class TemplateTrainer:
    database: Database
    pool: ExtractionPool
    context: Context
    template_cache: TemplateCache
    product_token: str
    clock: Clock
    log: Logger
    stores: BodyStores = NO_STORES

    async def run(self) -> None:
        """Until cancelled; what was seen last is handed in then."""
        try:
            for number in count(1):
                await self.clock.sleep(EVERY_SECONDS)
                try:
                    # Mere figures can wait: on a busy fleet they would be written more often than read.
                    await self.hand_in(is_all=number % FIGURES_EVERY == 0)
                    while await self.train_next():
                        pass
                except (DatabaseDown, QueryFailed, DependencyDown) as error:
                    # Pages are read the general way meanwhile, and the next round tries again.
                    self.log.warning("lesson_failed", **as_fields(error))
        finally:
            with suppress(DatabaseDown, QueryFailed):
                await self.hand_in()

    async def hand_in(self, *, is_all: bool = True) -> None:
        tallies = self.template_cache.taken(is_all=is_all)
        templates = {host: self.template_cache.changed_templates_of(host[1]) for host in tallies}
        active = await hand_in(self.database, Report(tallies, templates))
        for host, versions in active.items():
            if versions != self.template_cache.versions_of(host[1]):
                self.template_cache.forget(host[1])

    async def train_next(self) -> bool:
        """The host whose training is due first; false if there is none."""
        due = await begin_training(self.database)
        if due is None:
            return False
        training = await self._training(due)
        await end_training(self.database, due, training)
        self.template_cache.forget(due.host)
        return True

    async def _training(self, due: Due) -> Training:
        now = await self.database.fetchval(queries.now)
        keys = [DocumentKey(due.bucket, one) for one in due.hashes]
        bodies = [body for key in keys if (body := await newest_body(self.database, key, self.stores))]
        # Before ports were told apart, all of them were collected under the host's name.
        pages = [await self._page(body, due) for body in bodies if canonicalise(body.raw.url).site == due.host]
        outcome = await self.pool.run(encode_task("train", pages, now))
        if not isinstance(outcome, Done):
            return Training((), "its pages could not be read together")
        try:
            return training_from(outcome.value)
        except UsageError as error:
            return Training((), error.what)

    async def _page(self, body: KeptBody, due: Due) -> Page:
        page = page_of(response_of(body), await self.context.context_of(lease_of(body)), self.product_token)
        # Audits are for pages on their way; here the old template only has to show whom it would serve.
        guide = None if due.is_asked else page.guide
        return replace(page, guide=guide and replace(guide, audits=False))
