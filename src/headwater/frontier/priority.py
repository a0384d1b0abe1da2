"""How urgent an entry is. Pure."""

from headwater.frontier.entry import Origin

LOWEST, HIGHEST = 1, 10
BONUS = {Origin.FEED: 2, Origin.SITEMAP: 1, Origin.SPIDER: 0, Origin.MANUAL: 0, Origin.API: 0}
EXTERNAL_PENALTY = 2


def entry_priority(base: int, origin: Origin, depth: int = 0, *, is_external: bool = False) -> int:
    """The source's own priority, more for what a publisher announces, less for what lies deep or elsewhere."""
    depth_penalty = depth if origin is Origin.SPIDER else 0
    wanted = base + BONUS[origin] - depth_penalty - (EXTERNAL_PENALTY if is_external else 0)
    return max(LOWEST, min(HIGHEST, wanted))
