"""`headwater jobs`: vacancies, to search and to look at."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from headwater.cli.docs.group import (
    Hits,
    InView,
    Language,
    SourceOption,
    question_of,
    show_hit,
    tell_about,
)
from headwater.cli.launch import ACTOR, AsJson, Cursor, Launch, Launched, with_services
from headwater.cli.output import show, show_json, show_table
from headwater.cli.words import inert

if TYPE_CHECKING:
    from headwater.actions.searching import JobWish
    from headwater.reports.archive import SearchAnswer
    from headwater.reports.vacancies import VacancyRow
    from headwater.services import Services

app = App(name="jobs", help="Vacancies: list, search and export those that are open, look at one, take one out.")
app.command(
    "headwater.cli.exporting:export_jobs", name="export", help="Write open vacancies into a file, a folder or a pipe."
)


@dataclass(frozen=True, slots=True)
class Options:
    """Which vacancies."""

    country: Annotated[str | None, Parameter(help="Only in this country: its name or its two letters.")] = None
    level: Annotated[str | None, Parameter(help="intern, junior, mid, senior, lead or executive.")] = None
    modality: Annotated[str | None, Parameter(help="onsite, field, remote, hybrid, home_based or flexible.")] = None
    career: Annotated[str | None, Parameter(help="staff, consultancy, fellowship or internship.")] = None
    contract: Annotated[
        str | None,
        Parameter(help="full_time, part_time, fixed_term, short_term, project_based, freelance or volunteer."),
    ] = None
    mission: Annotated[str | None, Parameter(help="Its subject, such as health or climate.")] = None
    source: SourceOption = None
    language: Language = None
    since: Annotated[str | None, Parameter(help="Only those first seen since: 7d, 12h, or a date.")] = None
    view: InView = None

    @property
    def wish(self) -> "JobWish":
        from headwater.actions.searching import JobWish

        return JobWish(**asdict(self))


@app.command(name="search")
def search(
    *query: str,
    options: Annotated[Options, Parameter(name="*")] = Options(),  # noqa: B008 - a frozen value
    limit: Hits = 20,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Search the open vacancies, the best match first; by filters alone, the newest first.

    Parameters
    ----------
    query
        Words, "whole phrases", or, and -without as search engines know them.
    """
    example = "headwater jobs search nurse --country KE"
    asked = question_of(query, tuple(asdict(options).values()), example, "headwater jobs list")
    _find(asked, options, limit, cursor, is_json=json, launch=launch)


@app.command(name="list")
def list_jobs(
    *,
    options: Annotated[Options, Parameter(name="*")] = Options(),  # noqa: B008 - a frozen value
    limit: Hits = 20,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List the open vacancies, the newest first: by when they were first seen."""
    _find("", options, limit, cursor, is_json=json, launch=launch)


def _find(asked: str, options: Options, limit: int, cursor: str | None, *, is_json: bool, launch: Launch) -> None:
    wish = options.wish

    async def work(services: "Services") -> "SearchAnswer":
        from headwater.actions.searching import jobs_wished

        return await jobs_wished(services, asked, wish, limit, cursor)

    answer = with_services(launch, work)
    if is_json:
        from headwater.shapes.archive import account_of, job_hit_as_dict

        show_json({"jobs": [job_hit_as_dict(one) for one in answer.found], **account_of(answer)})
        return
    for one in answer.found:
        show_hit(one, facts_of(one.about))
    tell_about(answer, "vacancy", "vacancies")


def facts_of(about: Any) -> list[str]:
    place = ", ".join(filter(None, (about["city"], about["country"]))) or about["location_raw"]
    deadline = f"until {about['deadline']:%Y-%m-%d}" if about["deadline"] else ""
    return [about["org_name"], place, about["level_norm"] or "", about["work_modality"] or "", deadline]


def terms_of(about: Any) -> list[tuple[str, str]]:
    """Pay, contract and language, as far as they are known."""
    months = about["contract_duration_months"]
    terms = {
        "salary": _pay_in_words(about["raw_metadata"].get("compensation", {})),
        "career": about["career_type"],
        "contract": about["contract_type"],
        "duration": months and f"{months} month{'s' if months > 1 else ''}",
        "language": about["language"],
    }
    return [(name, said) for name, said in terms.items() if said]


def _pay_in_words(said: dict[str, str]) -> str:
    """In its own currency, as it was found."""
    amounts = " to ".join(dict.fromkeys(said[end] for end in ("min", "max") if said.get(end)))
    period = f"per {said['period']}" if said.get("period") else ""
    return " ".join(filter(None, (said.get("currency"), amounts, period))) if amounts else ""


@app.command(name="show")
def show_job(vacancy: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show a vacancy: its facts, the source that tells it, and other places that name it.

    Parameters
    ----------
    vacancy
        The URL where one applies, its id, or its canonical hash.
    """

    async def work(services: "Services") -> "VacancyRow":
        from headwater.reports.vacancies import find_vacancy

        return await find_vacancy(services.database, vacancy)

    found = with_services(launch, work)
    about = found.about
    if json:
        from headwater.shapes.archive import vacancy_as_dict

        show_json(vacancy_as_dict(found))
        return
    show(inert(about["title"]))
    show(f"  {', '.join(inert(fact) for fact in facts_of(about) if fact)}")
    for name, said in terms_of(about):
        show(f"  {name}: {inert(said)}")
    show(f"  apply: {inert(about['apply_url'])}")
    word = "the site where one applies" if about["is_spoken_for"] else "a list of other sites' vacancies"
    show(f"  {about['status']}, version {about['version']}; from {inert(about['source_name'] or 'no source')} ({word})")
    if found.ending:
        show(f"  {about['status']} {found.ending.at:%Y-%m-%d %H:%M}: {inert(found.ending.why)}")
    if about["description_snippet"]:
        show(f"  {inert(about['description_snippet'])}")
    if found.sightings:
        show("Also listed by these sources, whose texts are not used:")
        rows = [(one["source_name"] or "", one["url"], f"{one['last_seen_at']:%Y-%m-%d}") for one in found.sightings]
        show_table(("source", "at", "last seen"), rows)


@app.command(name="rm")
def remove_job(vacancy: str, *, reason: str, launch: Launched = Launch()) -> None:  # noqa: B008
    """Take a vacancy out for good: it stays out however often it is listed again.

    Parameters
    ----------
    vacancy
        The URL where one applies, its id, or its canonical hash.
    reason
        Why; `jobs show` says it.
    """

    async def work(services: "Services") -> tuple[str, bool]:
        from headwater.actions.vacancies import remove_vacancy

        return await remove_vacancy(services, vacancy, ACTOR, reason)

    title, was_there = with_services(launch, work)
    show(f"{inert(title)} is taken out." if was_there else f"{inert(title)} was taken out before.")
