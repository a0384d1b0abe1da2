"""`headwater explain`: why now, why not, when next, what happened."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import show, show_json, show_table
from headwater.cli.serving import with_services
from headwater.cli.sources import show_source
from headwater.cli.words import inert
from headwater.errors import NotFound

if TYPE_CHECKING:
    from headwater.frontier.explain import Explanation
    from headwater.services import Services


def explain(what: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Say why a URL is not fetched now or a source not polled, when it will be, and what happened to it so far.

    Parameters
    ----------
    what
        A URL in any spelling, or a source by its id, address or name.
    """

    async def work(services: "Services") -> "Explanation | None":
        from headwater.errors import UrlRejected
        from headwater.frontier.explain import explain as look_into
        from headwater.sources.store import find_source
        from headwater.urls.canonical import canonicalise

        try:
            return await look_into(services.database, canonicalise(what))
        except (NotFound, UrlRejected) as nothing:
            # Perhaps a source was meant; if not, what was wrong with the URL is worth more.
            try:
                await find_source(services.database, what)
            except NotFound:
                raise nothing if "://" in what else unknown(what) from None
            return None

    found = with_services(launch, work)
    if found is None:
        show_source(what, json=json, launch=launch)
        return
    if json:
        show_json(asdict(found))
        return
    show(f"{found.url}")
    show(f"  {found.status}: {found.why}")
    if found.next_at:
        show(f"  next: not before {found.next_at:%Y-%m-%d %H:%M:%S %Z}")
    show(f"  source {found.source}, priority {found.priority}")
    if found.history:
        show_table(
            ("when", "verdict", "status", "ms", "reason"),
            [
                (
                    f"{one.at:%Y-%m-%d %H:%M:%S}",
                    one.verdict,
                    str(one.status or ""),
                    str(one.duration_ms or ""),
                    inert(one.reason or ""),
                )
                for one in found.history
            ],
        )


def unknown(what: str) -> NotFound:
    return NotFound(
        f"{what!r} is neither a URL nor a source.",
        fix="A URL begins with https://; `headwater sources list` shows the sources there are.",
    )
