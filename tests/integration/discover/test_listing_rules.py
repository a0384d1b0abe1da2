"""What a list says to robots in its own head: to all of them, to us by name, or to somebody else."""

import pytest
from tests.integration.discover.conftest import Desk
from tests.integration.discover.test_channels import ARTICLES, page_of

from headwater.sources.source import SourceMode


@pytest.mark.parametrize(
    ("name", "taken"), [("robots", 0), ("headwater", 0), ("HeadWater", 0), ("otherbot", len(ARTICLES))]
)
async def test_a_list_may_ask_us_by_name_not_to_follow_its_links(desk: Desk, name: str, taken: int) -> None:
    desk.site.pages["/"] = page_of(*ARTICLES, more=f'<meta name="{name}" content="nofollow">')
    await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
    [ran] = await desk.poll()
    assert ran.run_state.tally.inserted == taken
    assert len(await desk.entries()) == taken
