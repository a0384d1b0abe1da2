"""`headwater sinks types` and `add`: the types there are, and a new sink of one."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, with_quiet_log, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.words import inert
from headwater.errors import NotFound, UsageError

if TYPE_CHECKING:
    from headwater.deliver.options import KindHelp


def list_types(kind: str | None = None, *, json: AsJson = False) -> None:
    """List the types of sinks with their options.

    Parameters
    ----------
    kind
        Only this type.
    """
    from headwater.deliver.options import every_kind

    found = [one for one in every_kind() if kind in (None, one.name)]
    if not found:
        raise NotFound(f"There is no sink of the type '{kind}'.", fix="See all of them: headwater sinks types")
    if json:
        show_json({"types": [asdict(one) for one in found]})
        return
    for one in found:
        show_type(one)


def show_type(one: "KindHelp") -> None:
    if one.why_not:
        show(f"{one.name}: {one.why_not}")
        return
    begins = "begins at the log's end" if one.is_events else "is filled from the archive first"
    show(f"{one.name}: {one.summary.rstrip('.')}. It {begins}.")
    for option in one.options:
        default = "must be given" if option.default is None else f"default {option.default}" if option.default else ""
        show(f"  {option.name}: {option.says}{f' ({default})' if default else ''}")


def add(
    name: str,
    *options: str,
    kind: Annotated[str, Parameter(name="--type", help="Its type: `headwater sinks types` lists them.")],
    view: Annotated[str | None, Parameter(help="Deliver this view only; otherwise everything.")] = None,
    from_archive: Annotated[
        bool, Parameter(negative="", help="Send the whole archive first, also to a stream of events.")
    ] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Deliver to a sink. A store is filled from the archive; a stream of events begins at the log's end.

    Secrets are named, never given: secret=env:NAME or secret=file:/path. A sink that does not answer is added with a
    warning, and is tried again by itself.

    Parameters
    ----------
    name
        What it shall be called: small letters, digits, - and _.
    options
        As OPTION=VALUE; `headwater sinks types` lists those of each type.
    """
    given = dict(assigned(text) for text in options)

    from headwater.actions.adding_sinks import add_sink

    added = with_services(
        with_quiet_log(launch),
        lambda services: add_sink(services, name, kind, given, view=view, from_archive=from_archive),
    )
    if json:
        from headwater.shapes.sinks import added_as_dict

        show_json(added_as_dict(name, added))
        return
    begins = "is being filled from the archive" if added.is_filled else "gets every change from now on"
    show(f"{name} is added and {begins}.")
    if added.trouble:
        say(f"Warning: it could not be tried. {inert(added.trouble.what)} {inert(added.trouble.fix)}".rstrip())
        say(f"It is tried again by itself. Try it: headwater sinks test {name}")
    elif added.answer:
        show(inert(added.answer))
    if added.kind.forgets_not:
        say(f"It cannot take back: {added.kind.forgets_not}")
    say(f"Watch it: headwater sinks show {name}")


def assigned(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        # Not the text itself: it may be a secret.
        raise UsageError("An option of a sink has no value.", fix="Write it as OPTION=VALUE.")
    return name.strip(), value
