"""`headwater sinks verify` and `retire`: a sink beside the archive, and beside what others wrote there."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.consent import Yes, require_consent
from headwater.cli.launch import AsJson, Called, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.words import inert, quantity

if TYPE_CHECKING:
    from headwater.deliver.store import SinkReport
    from headwater.deliver.verifying import Verification
    from headwater.services import Services

RED = 1
SHOWN_FOREIGN = 20


def verify(
    name: Called,
    *,
    mend: Annotated[bool, Parameter(negative="", help="Send or remove the records that differ once more.")] = False,
    remove_unknown: Annotated[
        bool, Parameter(negative="", help="With --mend: remove records, too, that this archive does not know.")
    ] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Compare a sink with the archive: missing, outdated, too much, in the wrong place. Exit 1 if anything differs.

    Versions are compared, not contents: a record that another program rewrote under its version is not found. A sink
    that cannot say what it holds is compared by what was delivered to it. Records whose change is on its way are no
    difference; parked ones are.
    """

    async def work(services: "Services") -> "tuple[Verification, SinkReport]":
        from headwater.actions.delivery import verify_sink
        from headwater.deliver.store import sink_named

        found = await verify_sink(services, name, mends=mend, removes_unknown=remove_unknown)
        return found, await sink_named(services.database, name)

    found, sink = with_services(launch, work)
    if json:
        from headwater.shapes.sinks import verification_as_dict

        show_json(verification_as_dict(name, found))
    else:
        show_verification(found, sink)
    return RED if found.is_red else 0


def show_verification(found: "Verification", sink: "SinkReport") -> None:
    from headwater.deliver.verifying import SinkDifference

    how = "The sink says what it holds" if found.is_asked else "This sink cannot say what it holds: compared with notes"
    show(f"{how}: {quantity(found.held, 'record')}; the archive has {quantity(found.expected, 'record')} for it.")
    for kind, count in sorted(found.differences.items()):
        show(f"  {quantity(count, 'record')} {kind}")
    for one in found.named:
        place = f", at {inert(one.place)}" if one.place else ""
        show(f"    {one.key.kind} {one.key.id}: {one.difference}{place}")
    if found.on_their_way:
        show(f"  {quantity(found.on_their_way, 'record')} on the way: no difference")
    if found.parked:
        show(f"  {quantity(found.parked, 'record')} parked. See why: headwater sinks show {sink.name}")
    if sink.backfill_reason:
        say("It is being filled: what that has not reached yet is missing.")
    if found.older:
        show(f"  {quantity(found.older, 'record')} from before the sink was added, which it was never to get")
    if not found.is_red:
        show("They are equal." if found.is_asked else "It was sent all that it should have.")
    elif found.mended:
        show(f"{quantity(found.mended, 'record')} will be sent or removed once more. Verify again in a moment.")
    elif found.differences:
        unknown = " --remove-unknown" * (set(found.differences) == {SinkDifference.UNKNOWN})
        say(f"Mend them: headwater sinks verify {sink.name} --mend{unknown}")


def retire(
    name: str,
    *,
    yes: Yes = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Find documents that an earlier system wrote under other ids, and delete those that ours replace.

    Parameters
    ----------
    name
        A sink of the type elasticsearch with the layout raw_content.
    """

    from headwater.actions.delivery import foreign_documents, retire_documents

    found = with_services(launch, lambda services: foreign_documents(services, name))
    replaced = [one for one in found if one.replaced_by]
    told = {"found": len(found), "replaced": len(replaced)}
    if not replaced:
        if json:
            show_json(told | {"retired": 0})
        else:
            show(_no_foreign(len(found)))
        return
    if not json:
        for one in replaced[:SHOWN_FOREIGN]:
            show(f"{one.place}  {one.id}  {one.url}")
    question = f"Delete {quantity(len(replaced), 'document')} of another system, which ours replace?"
    require_consent(question, is_given=yes)
    done = with_services(launch, lambda services: retire_documents(services, name, found))
    if json:
        show_json(told | {"retired": done.retired, "left": done.left})
        return
    left = f"; {done.left:,} changed meanwhile and were left" if done.left else ""
    show(f"{quantity(done.retired, 'document')} deleted{left}.")


def _no_foreign(count: int) -> str:
    if not count:
        return "All documents there stand under ids of ours."
    return (
        f"{quantity(count, 'document')} of another system found; none is of a page that this sink holds, so all stay."
    )
