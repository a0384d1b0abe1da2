"""`headwater problems`: all that is wrong, since when, and what to do about it."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, Limit, with_services
from headwater.cli.output import say, show, show_json, show_steps, show_table, terminal_width
from headwater.cli.words import in_words, inert, length_of, quantity, relative
from headwater.shapes.status import problems_as_dict

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.reports.problems import Problems
    from headwater.services import Services
    from headwater.sources.health import HealthProblem

SIGNS = {"error": "✗", "warning": "!"}
COMMAND = "headwater problems"


def problems(
    *,
    source: Annotated[str | None, Parameter(help="Only of this source: its id, address, host or name.")] = None,
    limit: Limit = 50,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """List all that is wrong, the worst first: what, since when, and what to do. Exit 1 if there is anything.

    Sources and channels, hosts, the queue and this machine are judged by the rules that their health is told by.

    Parameters
    ----------
    limit
        How many to show; all are counted.
    """

    async def work(services: "Services") -> "Problems":
        from headwater.actions.standing import all_problems, problems_of

        return await (all_problems(services) if source is None else problems_of(services, source))

    looked = with_services(launch, work)
    if json:
        show_json(problems_as_dict(looked, limit))
    elif looked.found:
        show_problems(looked, limit)
    else:
        last = f"; the last poll ended {relative(looked.last_run, looked.now)}" if looked.last_run else ""
        show(f"No problems. Looked at {looked.now:%Y-%m-%d %H:%M:%S %Z}{last}.")
    return int(bool(looked.found))


def show_problems(looked: "Problems", limit: int) -> None:
    shown = looked.found[:limit]
    if terminal_width():
        for one in shown:
            show_problem(one, looked.now)
    else:
        columns = ("", "since", "where", "what is wrong", "what to do")
        show_table(columns, [row_of(one, looked.now) for one in shown])
    counts = Counter(one.grade for one in looked.found)
    told = ", ".join(quantity(counts[grade], grade) for grade in SIGNS if counts[grade])  # type: ignore[index]
    more = " or more" if looked.is_cut else ""
    rest = len(looked.found) - limit
    say(f"{told}{more}" + (f"; {rest:,} not shown: {COMMAND} --limit {len(looked.found)}" if rest > 0 else ""))


def show_problem(one: "HealthProblem", now: "datetime") -> None:
    """For a person: commands on lines of their own, to be copied."""
    sign, since, about, what, fix = row_of(one, now)
    show(f"{sign} {about}: {what}" + (f" For {since}." if one.since else ""))
    show_steps(fix, indent=4)


def row_of(one: "HealthProblem", now: "datetime") -> tuple[str, ...]:
    since = length_of(now - one.since) if one.since else "–"
    return SIGNS[one.grade], since, inert(one.about), in_words(one.what), inert(one.fix)


def hint_at_problems(count: int, *, is_cut: bool = False) -> str:
    """A line for other commands that leads here."""
    return f"{quantity(count, 'problem')}{' or more' * is_cut}: {COMMAND}"
