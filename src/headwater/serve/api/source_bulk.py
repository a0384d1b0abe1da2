"""One thing done to many sources, decided here and told one by one."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from headwater.actions.many_sources import BulkAction, BulkWish, change_many
from headwater.errors import UsageError
from headwater.reports.discovery import SourceFilter
from headwater.reports.paging import status_named
from headwater.serve.access.gate import Operator
from headwater.serve.api.operations import OperationShape
from headwater.serve.api.source_shapes import Word, Words
from headwater.serve.bodies import KeptText, StrictBody
from headwater.serve.long_work import ACCEPTED, located
from headwater.serve.operations import Progress
from headwater.serve.shared import Installed, LongWork, OnceOnly
from headwater.settings.durations import parse_duration
from headwater.sources.source import Policy, SourceKind, tags_from

router = APIRouter(prefix="/api/v1", tags=["sources"])

MOST_NAMED = 10_000


class BulkFilter(StrictBody):
    """As the list takes it. An empty one means every source that was not deleted; it deletes none."""

    status: Word | None = Field(None, description="active, paused, blocked, deleted, failing, silent, overdue or idle.")
    kind: SourceKind | None = None
    tag: Word | None = None
    text: Word | None = Field(None, description="The beginning of a name.")

    @property
    def wanted(self) -> SourceFilter:
        status, health = status_named(self.status)
        if health is not None:
            raise UsageError(
                f"{health} is computed, and cannot choose sources for this.",
                fix="Choose by failing, silent, overdue or idle, or name the ids that the list shows.",
            )
        return SourceFilter(status, self.kind, self.tag, self.text)


class BulkRequest(StrictBody):
    """One action, and the sources: by `ids` or by `filter`."""

    action: BulkAction
    ids: Annotated[list[Annotated[KeptText, Field(max_length=2_100)]], Field(max_length=MOST_NAMED)] | None = Field(
        None, description="Ids, addresses, hosts or names."
    )
    filter: BulkFilter | None = None
    interval: Word | None = Field(None, description="For set_interval, such as 15m; null learns the rhythm again.")
    policy: Policy | None = Field(None, description="For set_policy; null takes it back to the usual one.")
    tags: Words | None = Field(None, description="For tag: added to those that a source has.")
    reason: Word = Field("", description="For pause and delete; shown with the source.")

    def chosen(self) -> list[str] | SourceFilter:
        if (self.ids is None) == (self.filter is None):
            raise UsageError("Which sources are meant is not said, or said twice.", fix="Give ids or filter.")
        if self.filter is not None:
            if self.action is BulkAction.DELETE and self.filter == BulkFilter():
                raise UsageError("This would delete every source.", fix="Name some by ids, or filter by a status.")
            return self.filter.wanted
        return list(dict.fromkeys(self.ids or ()))

    def wish(self, actor: str) -> BulkWish:
        try:
            interval = parse_duration(self.interval) if self.interval else None
            tags = tags_from(",".join(self.tags or ()))
        except ValueError as error:
            raise UsageError(f"{self.action} {error}.") from error
        if self.action is BulkAction.TAG and not tags:
            raise UsageError("No tag was given.", fix="Give tags.")
        return BulkWish(self.action, actor, self.reason, interval, tags, self.policy)


@router.post("/sources/bulk", status_code=202, response_model=None, responses={202: ACCEPTED[202]})
async def change_sources(
    caller: Operator, services: Installed, operations: LongWork, once: OnceOnly, asked: BulkRequest
) -> Response:
    """Run, pause, resume, tag, delete many sources, set their interval or policy or clear their errors.

    Answers with an operation; its result counts outcomes (done, skipped, failed) and tells each with its reason.
    """
    wish, chosen = asked.wish(caller.name), asked.chosen()

    async def work(progress: Progress) -> Mapping[str, Any]:
        done = await change_many(services, wish, chosen, progress)
        return {**done.counts, "outcomes": [asdict(one) for one in done.told]}

    async def begin() -> OperationShape:
        total = None if isinstance(chosen, SourceFilter) else len(chosen)
        begun = await operations.begin(f"sources.{asked.action}", caller.name, work, total)
        return OperationShape.model_validate(begun)

    return located(await once.answer(caller.name, begin, 202))
