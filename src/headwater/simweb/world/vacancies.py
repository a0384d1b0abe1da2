"""The vacancies of one organisation: posted, closed at their deadline, and some opened again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from headwater.simweb.world.cache import Cache
from headwater.simweb.world.days import days_back, local_day, times_of
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.jobwords import (
    CONTRACTS,
    DUTIES,
    FIELDS,
    LEVELS,
    LOCATIONS,
    MODALITIES,
    NEEDS,
    Level,
    Location,
)
from headwater.simweb.world.markup import slug_of
from headwater.simweb.world.paths import day_of, number_of
from headwater.simweb.world.publishers import Publisher

REOPENED = 0.1
OPEN_DAYS = (5, 40)
PAUSE_DAYS = (3, 10)
REOPENED_DAYS = 14
# Nothing older can be open, not even for the second time.
LONGEST_LIFE = timedelta(days=OPEN_DAYS[1] + PAUSE_DAYS[1] + REOPENED_DAYS + 2)


@dataclass(frozen=True, slots=True)
class Vacancy:
    """The truth about one opening, as it stands at the moment asked about."""

    number: int
    url: str
    apply_url: str
    title: str
    org_name: str
    org_type: str
    location: Location
    level: str
    missions: tuple[str, ...]
    modality: str
    modality_label: str
    contract: str
    contract_label: str
    employment: str
    career_type: str
    posted: datetime
    deadline: date
    description: tuple[str, ...]
    salary_usd: tuple[int, int] | None

    @property
    def location_raw(self) -> str:
        return f"{self.location.city}, {self.location.country}"

    @property
    def path(self) -> str:
        return "/" + self.url.split("/", 3)[3]


@dataclass(frozen=True, slots=True)
class Opening:
    """A vacancy with its whole calendar: open from `posted`, again from `reopens` if it has one."""

    vacancy: Vacancy
    closes: datetime
    reopens: datetime | None
    recloses: datetime | None

    def at(self, now: datetime) -> Vacancy | None:
        if self.vacancy.posted <= now < self.closes:
            return self.vacancy
        if self.reopens and self.recloses and self.reopens <= now < self.recloses:
            return _with_deadline(self.vacancy, self.recloses)
        return None


class Board:
    def __init__(self, publisher: Publisher, seed: int, opened: datetime, days: Cache[tuple[Opening, ...]]) -> None:
        self.publisher = publisher
        self._seed = seed
        self._first_day = local_day(publisher, opened)
        self._days = days

    def open_at(self, now: datetime) -> Iterator[Vacancy]:
        """Newest first."""
        today = local_day(self.publisher, now)
        for day in days_back(today, max(self._first_day, today - LONGEST_LIFE)):
            for opening in reversed(self._day(day)):
                if vacancy := opening.at(now):
                    yield vacancy

    def find(self, number: int, now: datetime) -> Vacancy | None:
        day = day_of(number)
        openings = self._day(day) if day >= self._first_day else ()
        return next((o.at(now) for o in openings if o.vacancy.number == number), None)

    def _day(self, day: date) -> tuple[Opening, ...]:
        return self._days.get((self.publisher.host, day), lambda: self._write(day))

    def _write(self, day: date) -> tuple[Opening, ...]:
        dice = Dice(self._seed, self.publisher.host, day)
        times = times_of(self.publisher, day, dice)
        return tuple(self._opening(number_of(day, place), at, dice) for place, at in enumerate(times))

    def _opening(self, number: int, posted: datetime, dice: Dice) -> Opening:
        closes = self._end_of_day(posted, dice.count(*OPEN_DAYS))
        reopens = closes + timedelta(days=dice.count(*PAUSE_DAYS)) if dice.happens(REOPENED) else None
        recloses = self._end_of_day(reopens, REOPENED_DAYS) if reopens else None
        vacancy = self._vacancy(number, posted, closes, dice)
        return Opening(vacancy, closes, reopens, recloses)

    def _end_of_day(self, moment: datetime, days_later: int) -> datetime:
        """A deadline day counts to its last second where the organisation sits."""
        local = (moment + timedelta(days=days_later)).astimezone(self.publisher.zone)
        return local.replace(hour=23, minute=59, second=59)

    def _vacancy(self, number: int, posted: datetime, closes: datetime, dice: Dice) -> Vacancy:
        field, mission = dice.one(FIELDS)
        level, location = dice.one(LEVELS), dice.one(LOCATIONS)
        said, modality = dice.one(MODALITIES)
        contract_label, contract = CONTRACTS[level.employment]
        home = self.publisher.home
        lowest = dice.count(18, 70) * 1000
        return Vacancy(
            number=number,
            url=f"{home}careers/jobs/{number}-{slug_of(level.title.format(field=field))}",
            apply_url=f"{home}careers/apply/{number}",
            title=level.title.format(field=field),
            org_name=self.publisher.name,
            org_type=self.publisher.org_type,
            location=location,
            level=level.name,
            missions=(mission,),
            modality=modality,
            modality_label=said,
            contract=contract,
            contract_label=contract_label,
            employment=level.employment,
            career_type="internship" if level.name == "intern" else "staff",
            posted=posted,
            deadline=closes.date(),
            description=_description(field, level, location, dice),
            salary_usd=(lowest, lowest + 9000) if dice.happens(0.4) else None,
        )


def _description(field: str, level: Level, location: Location, dice: Dice) -> tuple[str, ...]:
    said = {"field": field.lower(), "place": location.city, "years": level.years}
    duties = " ".join(text.format(**said) for text in dice.some(DUTIES, 6))
    needs = " ".join(text.format(**said) for text in dice.some(NEEDS, 4))
    return duties, needs


def _with_deadline(vacancy: Vacancy, closes: datetime) -> Vacancy:
    return replace(vacancy, deadline=closes.date())
