"""`headwater views`: named filters over the archive, for sinks, feeds and searches."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from headwater.cli.docs.group import Hits
from headwater.cli.launch import AsJson, Called, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.words import inert, quantity, shorten
from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.actions.delivery import ViewStory, ViewWish
    from headwater.services import Services

WIDEST_TITLE = 80

app = App(name="views", help="Named filters over the archive, for sinks, feeds and searches.")


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Filters of a view. Several values of one option: any of them."""

    query: Annotated[str | None, Parameter(help="Words, as `docs search` takes them.")] = None
    kind: Annotated[list[str] | None, Parameter(help="document or job; repeat it.", negative="")] = None
    source: Annotated[
        list[str] | None, Parameter(help="Only of this source: its id, address, host or name; repeat it.", negative="")
    ] = None
    tag: Annotated[list[str] | None, Parameter(help="Only of sources with this tag; repeat it.", negative="")] = None
    language: Annotated[
        list[str] | None, Parameter(help="Only in this language, by its two letters; repeat it.", negative="")
    ] = None
    country: Annotated[
        list[str] | None,
        Parameter(help="Only vacancies there, and documents of sources there: name or two letters.", negative=""),
    ] = None
    min_quality: Annotated[
        int | None,
        Parameter(validator=Number(gte=0, lte=100), help="Only documents of this quality at least."),
    ] = None

    rights: Annotated[
        list[str] | None,
        Parameter(
            help="Only where publishers say so of use, as train=allowed or tdm=unknown; repeat it: all must hold.",
            negative="",
        ),
    ] = None

    @property
    def wish(self) -> "ViewWish":
        from headwater.actions.delivery import ViewWish

        return ViewWish(
            query=self.query,
            kinds=self.kind,
            sources=self.source,
            tags=self.tag,
            languages=self.language,
            countries=self.country,
            min_quality=self.min_quality,
            rights=self.rights,
        )


@app.command(name="add")
def add(
    name: str,
    *,
    options: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - a frozen value
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Name a filter over the archive. What is not given filters nothing.

    Parameters
    ----------
    name
        What it shall be called: small letters, digits, - and _.
    """

    from headwater.actions.delivery import make_view

    with_services(launch, lambda services: make_view(services, name, options.wish))
    if json:
        show_view(name, json=True, launch=launch)
        return
    show(f"The view {name} is added. Look into it: headwater views preview {name}")


@app.command(name="list")
def list_all(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List the views, and the sinks that deliver them."""

    from headwater.actions.delivery import view_stories
    from headwater.shapes.views import view_as_dict

    found = with_services(launch, view_stories)
    if json:
        show_json({"views": [view_as_dict(one) for one in found]})
        return
    if not found:
        say('There is no view yet. Add one: headwater views add boats --query "ferry or harbour"')
        return
    rows = [(one.view.name, in_short(one), ", ".join(one.sinks) or "–") for one in found]
    show_table(("name", "what is in it", "delivered by"), rows, whole=("name",))


@app.command(name="show")
def show_view(name: Called, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show what is in a view, and who delivers it."""

    from headwater.actions.delivery import view_stories
    from headwater.shapes.views import view_as_dict

    (found,) = with_services(launch, lambda services: view_stories(services, name))
    if json:
        show_json(view_as_dict(found))
        return
    show(f"{found.view.name}: {'everything' if found.view.is_everything else 'all that passes'}")
    for label, said in filters_of(found):
        show(f"  {label + ':':13} {said}")
    delivered = ", ".join(found.sinks) or f"no sink; headwater sinks add changes --type jsonl --view {name}"
    show(f"  delivered by: {delivered}")


def filters_of(one: "ViewStory") -> "list[tuple[str, str]]":
    view = one.view
    told = [
        ("words", inert(view.query)),
        ("kinds", ", ".join(view.kinds)),
        ("sources", ", ".join(map(inert, one.sources))),
        ("tags", ", ".join(map(inert, view.tags))),
        ("languages", ", ".join(view.languages)),
        ("countries", ", ".join(view.countries)),
        ("quality", f"{view.min_quality} at least" if view.min_quality else ""),
        ("rights", ", ".join(view.rights)),
    ]
    return [(label, said) for label, said in told if said]


def in_short(one: "ViewStory") -> str:
    return "; ".join(f"{label}: {said}" for label, said in filters_of(one)) or "everything"


@app.command(name="edit")
def edit(
    name: Called,
    *,
    options: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - a frozen value
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Change a view. What is not given stays; an empty value, as in `--tag ''`, takes a filter back.

    Sinks that deliver it look at the whole archive again: what is in it now comes, what no longer is goes.
    """
    if options == ViewOptions():
        raise UsageError(
            "There is nothing to change.", fix=f"Say what, for example: headwater views edit {name} --query harbour"
        )

    from headwater.actions.delivery import edit_view

    _, sinks = with_services(launch, lambda services: edit_view(services, name, options.wish))
    if json:
        show_view(name, json=True, launch=launch)
        return
    if sinks:
        say(f"Looking at the whole archive again: {', '.join(sinks)}")
    show_view(name, launch=launch)


@app.command(name="rm")
def remove(name: Called, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Remove a view; refused while a sink delivers it."""

    async def work(services: "Services") -> None:
        from headwater.actions.delivery import delete_view

        await delete_view(services, name)

    with_services(launch, work)
    if json:
        show_json({"name": name, "is_removed": True})
    else:
        show(f"The view {name} is removed.")


@app.command(name="preview")
def preview(
    name: Called,
    *,
    limit: Hits = 20,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Show the newest records of a view, and how many of the newest records are in it."""

    from headwater.actions.delivery import preview_view
    from headwater.shapes.views import preview_as_dict

    found = with_services(launch, lambda services: preview_view(services, name, limit))
    if json:
        show_json(preview_as_dict(found))
        return
    for one in found.found:
        title = shorten(one.hit.title, WIDEST_TITLE) or "(no title)"
        show(f"{one.hit.first_seen_at:%Y-%m-%d %H:%M}  {one.hit.kind:8}  {title}")
        show(f"  {inert(one.hit.url)}")
    for count in found.counts:
        nouns = ("vacancy", "vacancies") if count.kind == "job" else ("document", "documents")
        among = "all" if count.is_all else "the newest"
        say(f"{quantity(count.found, *nouns)} of {among} {count.looked:,} that were looked at.")
