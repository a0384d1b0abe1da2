"""/api/v1/explain: why now, why not, when next, what happened."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from headwater.errors import UsageError
from headwater.net.identity import identity_of
from headwater.reports.explaining import SourceStory, explain, story_of_source
from headwater.reports.pages import story_as_dict
from headwater.serve.access.gate import Viewer
from headwater.serve.bodies import KeptText
from headwater.serve.shared import Installed
from headwater.shapes.sources import source_story_as_dict

router = APIRouter(prefix="/api/v1", tags=["explain"])


@router.get("/explain")
async def explain_anything(
    caller: Viewer,
    services: Installed,
    url: Annotated[KeptText | None, Query(max_length=4_000, description="A URL in any spelling.")] = None,
    source: Annotated[KeptText | None, Query(max_length=2_100, description="Its id, address, host or name.")] = None,
) -> dict[str, Any]:
    """Say what became of a URL or a source: why it is not fetched now, why there is no document, what happens next.

    The answer is that of `headwater explain --json`: of a page, or of a source where that is meant.
    """
    if (url is None) == (source is None):
        raise UsageError("What is to be explained is not said, or said twice.", fix="Give url or source.")
    if source is not None:
        return source_story_as_dict(await story_of_source(services.database, source))
    found = await explain(services.database, url or "", identity_of(services.settings.fetch).user_agent)
    return source_story_as_dict(found) if isinstance(found, SourceStory) else dict(story_as_dict(found))
