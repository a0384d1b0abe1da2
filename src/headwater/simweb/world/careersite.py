"""A career site: vacancies as HTML lists, detail pages, a JSON API and a feed."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qs

from headwater.simweb.message import Page, Request
from headwater.simweb.world import sitemaps
from headwater.simweb.world.feeds import Entry, Issue, feed_text, feed_type
from headwater.simweb.world.markup import in_html, in_script
from headwater.simweb.world.pages import file_page, html_page, robots_page, xml_page
from headwater.simweb.world.publishers import Feed
from headwater.simweb.world.sitemaps import Place
from headwater.simweb.world.vacancies import Board, Vacancy

LIST = "/careers"
JOBS = "/careers/jobs/"
APPLY = "/careers/apply/"
NUMBER = re.compile(r"/(\d{6,9})(?:-|$)")
PER_PAGE = 20
MOST_PER_PAGE = 100


class CareerSite:
    def __init__(self, board: Board, opened: datetime) -> None:
        self.board = board
        self._publisher = board.publisher
        self._opened = opened
        self._feeds = {feed.path: feed for feed in self._publisher.feeds}

    def page(self, request: Request, now: datetime) -> Page | None:
        path = request.path
        if path.startswith((JOBS, APPLY)):
            return self._of_one(path, now)
        if path == "/robots.txt":
            return robots_page(self._publisher)
        if feed := self._feeds.get(path):
            return self._feed(feed, now)
        if path == "/api/jobs" and self._publisher.api:
            return self._api(parse_qs(request.query), now)
        if path == "/sitemap.xml" and self._publisher.sitemaps:
            return xml_page(sitemaps.urlset(Place(v.url, v.posted) for v in self.board.open_at(now)))
        return self._readable(path, request.query, now)

    def _readable(self, path: str, query: str, now: datetime) -> Page | None:
        match path:
            case "/":
                return self._html("Welcome", f'<p>We work with people. <a href="{LIST}">Join us</a></p>')
            case "/careers":
                return self._list(_number(parse_qs(query), "page", 1), now)
            case "/search":
                return self._html("Search", "<p>Use the list of vacancies.</p>")
        return file_page(path)

    def _of_one(self, path: str, now: datetime) -> Page | None:
        number = NUMBER.search(path)
        vacancy = self.board.find(int(number[1]), now) if number else None
        if vacancy is None:
            return None
        if path == f"{APPLY}{vacancy.number}":
            return self._html(f"Apply: {vacancy.title}", '<form method="post"><input name="name"></form>')
        if path != vacancy.path:
            return None
        return self._html(vacancy.title, _detail(vacancy), _linked_data(vacancy), vacancy.posted)

    def _list(self, number: int, now: datetime) -> Page | None:
        vacancies = list(self.board.open_at(now))
        pages = max(1, -(-len(vacancies) // PER_PAGE))
        if not 1 <= number <= pages:
            return None
        shown = LISTS[self._publisher.listing_style](vacancies[(number - 1) * PER_PAGE : number * PER_PAGE])
        more = f'<p><a rel="next" href="{LIST}?page={number + 1}">More vacancies</a></p>' if number < pages else ""
        return self._html("Current vacancies", f"<h1>Current vacancies</h1>\n{shown}\n{more}")

    def _api(self, asked: dict[str, list[str]], now: datetime) -> Page:
        records = [_record(vacancy) for vacancy in self.board.open_at(now)]
        answer = PAGINATIONS[self._publisher.api or "page"](records, asked)
        return Page(json.dumps(answer).encode(), "application/json")

    def _feed(self, feed: Feed, now: datetime) -> Page:
        shown = list(self.board.open_at(now))[: feed.window]
        newest = max((vacancy.posted for vacancy in shown), default=self._opened)
        text = feed_text(Issue(self._publisher, feed, [_entry(feed, vacancy) for vacancy in shown], newest))
        return Page(text.encode(), feed_type(self._publisher, feed), last_modified=newest)

    def _html(self, title: str, body: str, head: str = "", changed: datetime | None = None) -> Page:
        name = in_html(self._publisher.name)
        links = "".join(
            f'<link rel="alternate" type="application/rss+xml" title="Vacancies" href="{feed.path}">'
            for feed in self._publisher.feeds
            if feed.is_linked
        )
        text = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{in_html(title)} | {name}</title>
<link rel="stylesheet" href="/static/site.css">{links}{head}</head>
<body><header><a href="/">{name}</a> <nav><a href="{LIST}">Vacancies</a> <a href="/search">Search</a></nav></header>
<main>{body}</main><footer>{name}, {self._publisher.org_type}</footer></body></html>"""
        return html_page(self._publisher, text, changed)


def _detail(vacancy: Vacancy) -> str:
    facts = {
        "Location": vacancy.location_raw,
        "Level": vacancy.level,
        "Work modality": vacancy.modality_label,
        "Contract": vacancy.contract_label,
        "Mission": ", ".join(vacancy.missions),
        "Closing date": f"{vacancy.deadline:%d %B %Y}",
    }
    rows = "".join(f"<dt>{name}</dt><dd>{in_html(said)}</dd>" for name, said in facts.items())
    text = "".join(f"<p>{in_html(paragraph)}</p>" for paragraph in vacancy.description)
    apply = f'<a class="apply" rel="nofollow" href="{APPLY}{vacancy.number}">Apply now</a>'
    return f'<article class="job"><h1>{in_html(vacancy.title)}</h1><dl>{rows}</dl>{text}{apply}</article>'


def _linked_data(vacancy: Vacancy) -> str:
    address = {
        "@type": "PostalAddress",
        "addressLocality": vacancy.location.city,
        "addressCountry": vacancy.location.iso,
    }
    data: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": vacancy.title,
        "description": "".join(f"<p>{in_html(paragraph)}</p>" for paragraph in vacancy.description),
        "identifier": {"@type": "PropertyValue", "name": vacancy.org_name, "value": str(vacancy.number)},
        "datePosted": vacancy.posted.isoformat(),
        "validThrough": vacancy.deadline.isoformat(),
        "employmentType": vacancy.employment,
        "hiringOrganization": {"@type": "Organization", "name": vacancy.org_name},
        "jobLocation": {"@type": "Place", "address": address},
        "url": vacancy.url,
    }
    if vacancy.modality == "remote":
        data["jobLocationType"] = "TELECOMMUTE"
    if vacancy.salary_usd:
        low, high = vacancy.salary_usd
        value = {"@type": "QuantitativeValue", "minValue": low, "maxValue": high, "unitText": "YEAR"}
        data["baseSalary"] = {"@type": "MonetaryAmount", "currency": "USD", "value": value}
    return f'<script type="application/ld+json">{in_script(data)}</script>'


def _entry(feed: Feed, vacancy: Vacancy) -> Entry:
    return Entry(
        number=vacancy.number,
        path=vacancy.path,
        title=vacancy.title,
        summary=f"{vacancy.location_raw}. Closing date {vacancy.deadline.isoformat()}.",
        author=vacancy.org_name,
        section=vacancy.missions[0],
        published=vacancy.posted,
        updated=None,
        paragraphs=vacancy.description if feed.has_full_text else (),
    )


def _record(vacancy: Vacancy) -> dict[str, object]:
    return {
        "id": vacancy.number,
        "title": vacancy.title,
        "url": vacancy.url,
        "apply_url": vacancy.apply_url,
        "location": vacancy.location_raw,
        "level": vacancy.level,
        "modality": vacancy.modality_label,
        "contract": vacancy.contract_label,
        "missions": list(vacancy.missions),
        "posted": vacancy.posted.isoformat(),
        "deadline": vacancy.deadline.isoformat(),
        "description": "\n".join(vacancy.description),
    }


def _divs(vacancies: Sequence[Vacancy]) -> str:
    return "\n".join(
        f"""<div class="job-listing"><h3><a href="{v.path}">{in_html(v.title)}</a></h3>
<span class="location">{in_html(v.location_raw)}</span> <span class="deadline">{v.deadline.isoformat()}</span></div>"""
        for v in vacancies
    )


def _rows(vacancies: Sequence[Vacancy]) -> str:
    rows = "\n".join(
        f'<tr class="job-row"><td><a href="{v.path}">{in_html(v.title)}</a></td><td>{in_html(v.location_raw)}</td>'
        f"<td>{v.deadline:%d/%m/%Y}</td></tr>"
        for v in vacancies
    )
    return f"<table><tr><th>Title</th><th>Location</th><th>Deadline</th></tr>\n{rows}\n</table>"


def _items(vacancies: Sequence[Vacancy]) -> str:
    rows = "\n".join(
        f'<li class="job"><a href="{v.path}">{in_html(v.title)}</a> – {in_html(v.location_raw)}</li>' for v in vacancies
    )
    return f"<ul>\n{rows}\n</ul>"


def _links(vacancies: Sequence[Vacancy]) -> str:
    return "\n".join(f'<p><a href="{v.path}">{in_html(v.title)}</a></p>' for v in vacancies)


LISTS: Mapping[str, Callable[[Sequence[Vacancy]], str]] = {
    "job-listing": _divs,
    "job-row": _rows,
    "job": _items,
    "links": _links,
}

Record = dict[str, object]


def _number(asked: dict[str, list[str]], name: str, default: int) -> int:
    said = asked.get(name, [""])[0]
    return int(said) if said.isdecimal() and len(said) < 10 else default


def _size(asked: dict[str, list[str]], name: str) -> int:
    return max(1, min(_number(asked, name, PER_PAGE), MOST_PER_PAGE))


def _by_page(records: list[Record], asked: dict[str, list[str]]) -> Record:
    page, size = max(1, _number(asked, "page", 1)), _size(asked, "page_size")
    return {"jobs": records[(page - 1) * size : page * size], "page": page, "total": len(records)}


def _by_offset(records: list[Record], asked: dict[str, list[str]]) -> Record:
    offset = _number(asked, "offset", 0)
    return {"results": records[offset : offset + _size(asked, "limit")], "offset": offset, "total": len(records)}


def _by_cursor(records: list[Record], asked: dict[str, list[str]]) -> Record:
    begin = _number(asked, "cursor", 0)
    end = begin + _size(asked, "limit")
    return {"items": records[begin:end], "next_cursor": str(end) if end < len(records) else None}


PAGINATIONS: Mapping[str, Callable[[list[Record], dict[str, list[str]]], Record]] = {
    "page": _by_page,
    "offset": _by_offset,
    "cursor": _by_cursor,
}
