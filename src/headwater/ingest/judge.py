"""From what happened to what becomes of the entry. Pure: the whole response table is here."""

from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256

from headwater.extraction.article import Article, NoArticleReason, NotAnArticle
from headwater.extraction.jobs.normalise import Harvest
from headwater.extraction.page_type import PageType, has_challenge_title
from headwater.fetch.held_slot import SLOW_DOWN, wait_asked_for
from headwater.fetch.outcomes import (
    Answered,
    BadRedirect,
    Disallowed,
    Failed,
    FetchOutcome,
    Later,
    LeaseLost,
    LedAway,
    RobotsUnknown,
    TakenDown,
    status_with_price,
)
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.verdicts import (
    Dead,
    Fetched,
    HostSaysWait,
    Moved,
    Postponed,
    RetryLater,
    Unchanged,
    Verdict,
)
from headwater.net.body import Complete
from headwater.net.media_type import is_file, media_type
from headwater.net.problems import FetchProblem, Problem, problem_with
from headwater.net.redirects import Flaw
from headwater.net.transport import Response
from headwater.urls.canonical import CanonicalUrl, canonicalise

# A refusal is not argued with: we come back rarely, and then not at all.
WAIT_AFTER_REFUSAL = timedelta(hours=6)
# A page that has a price has one tomorrow; we never pay.
WAIT_AFTER_PRICE = timedelta(days=1)
PAYMENT_REQUIRED = 402
WAIT_TO_CONFIRM = timedelta(hours=1)
HTML = frozenset({"text/html", "application/xhtml+xml"})
OK = 200
NOT_FOUND = 404
NOT_MODIFIED = 304
HEAD_BYTES = 8_192
# For us the same as noindex: a search is what the archive is.
SEARCH_REFUSED = "search_refused"
ENDINGS = {404: DeadReason.NOT_FOUND, 410: DeadReason.GONE, 451: DeadReason.LEGAL}
REFUSALS = frozenset({401, 403, 407})
# Servers that guard sites say so in the header, whatever the status.
CHALLENGED = {"cf-mitigated": frozenset({"challenge"}), "x-amzn-waf-action": frozenset({"challenge", "captcha"})}
NAME_PROBLEMS = frozenset({Problem.DNS_NOT_FOUND, Problem.DNS_FAILED})
# The host itself did not answer, or broke off: enough of these in a row and it is left to rest.
CONNECTION_PROBLEMS = NAME_PROBLEMS | {
    Problem.CONNECT_TIMEOUT,
    Problem.CONNECT_REFUSED,
    Problem.CONNECT_FAILED,
    Problem.TLS,
    Problem.TIMEOUT,
    Problem.RESET,
}


@dataclass(frozen=True, slots=True)
class UnreadablePage:
    """The child that read it died, hung or grew too large."""

    how: str


ReadPage = Article | NotAnArticle | Harvest | UnreadablePage


@dataclass(frozen=True, slots=True)
class Missing:
    """Of a page that is not found. `is_listed`: a channel names it now. `was_missing`: nor was it at the last look."""

    is_listed: bool = False
    was_missing: bool = False


def judge(outcome: FetchOutcome, lease: Lease, missing: Missing | None = None) -> Verdict | None:
    """None: the lease was lost, and there is nothing left to say. `missing` is asked for where the answer is a 404."""
    match outcome:
        case Answered(response, hops):
            return judge_answer(response, lease, hops, missing)
        case LedAway(to, hops):
            return Moved(to.url, hops)
        case Disallowed(url, decision):
            return Dead(DeadReason.ROBOTS_BLOCKED, f"{url.target}: line {decision.line_number}, {decision.rule_text}")
        case TakenDown():
            return Dead(DeadReason.TAKEDOWN)
        case RobotsUnknown(wait, why, is_final):
            unreachable = Dead(DeadReason.UNREACHABLE, why)
            return unreachable if is_final else HostSaysWait(wait, why, "robots_unreachable", slows_us_down=False)
        case Later(wait, url, hops):
            return Postponed(wait, url.url, hops)
        case BadRedirect(reason):
            return judge_bad_redirect(reason)
        case Failed(problem):
            return judge_problem(problem)
        case LeaseLost():
            return None


def is_not_found(outcome: FetchOutcome) -> bool:
    return isinstance(outcome, Answered) and outcome.response.status == NOT_FOUND


def judge_answer(response: Response, lease: Lease, hops: int = 0, missing: Missing | None = None) -> Verdict:
    status = response.status
    if is_challenged(response):
        return challenged(status)
    if status == NOT_FOUND and is_to_be_confirmed(lease, missing or Missing()):
        wait, end = WAIT_TO_CONFIRM, DeadReason.NOT_FOUND
        return RetryLater("not_found", "HTTP 404, to be confirmed", wait, gives_up_as=end)
    if status in ENDINGS:
        return Dead(ENDINGS[status], f"HTTP {status}")
    if status in SLOW_DOWN:
        return HostSaysWait(wait_asked_for(response) or timedelta(), f"HTTP {status}")
    if status == PAYMENT_REQUIRED:
        why = status_with_price(response)
        return RetryLater("payment_required", why, WAIT_AFTER_PRICE, gives_up_as=DeadReason.PAYMENT_REQUIRED)
    if status in REFUSALS:
        why = status_with_price(response)
        return RetryLater("forbidden", why, WAIT_AFTER_REFUSAL, gives_up_as=DeadReason.FORBIDDEN)
    if status == NOT_MODIFIED:
        return judge_unchanged(response, lease)
    if 200 <= status < 300:
        return judge_content(response, lease, hops)
    return RetryLater("upstream" if status >= 500 else "bad_response", f"HTTP {status}")


def is_challenged(response: Response) -> bool:
    """The guard of a site asks whether we are human. A page that is to be read is looked at when it is."""
    is_to_be_read = 200 <= response.status < 300 or response.status == NOT_MODIFIED
    if not is_to_be_read and has_challenge_title(response.body[:HEAD_BYTES]):
        return True
    return any(response.headers.get(name, "").strip().lower() in words for name, words in CHALLENGED.items())


def challenged(status: int) -> RetryLater:
    why = "a challenge page" if status == OK else f"a challenge page, HTTP {status}"
    return RetryLater("forbidden", why, WAIT_AFTER_REFUSAL, gives_up_as=DeadReason.FORBIDDEN)


def is_to_be_confirmed(lease: Lease, missing: Missing) -> bool:
    """It was there before, or its channel says that it is: one answer is not believed. A link alone says little."""
    return bool(lease.fetch_count or missing.is_listed) and not missing.was_missing


def judge_unchanged(response: Response, lease: Lease) -> Verdict:
    is_asked = lease.etag is not None or lease.last_modified is not None
    if not is_asked or not is_page_of(lease, response.url):
        return RetryLater("bad_response", "HTTP 304 to a request without validators")
    said = response.validators
    return Unchanged(said.etag or lease.etag, said.last_modified or lease.last_modified)


def judge_content(response: Response, lease: Lease, hops: int) -> Verdict:
    if response.status == 206:
        return RetryLater("bad_response", "HTTP 206 to a request without a range")
    if problem := problem_with(response.content):
        return judge_problem(problem)
    assert isinstance(response.content, Complete)
    final = response.url
    if not is_page_of(lease, final):
        # Another page of this host: an entry of its own, and nothing is fetched for it twice in one journey.
        return Moved(final.url, hops)
    if not is_html(response):
        kind = response.headers.get("Content-Type", "")[:100]
        belied = ", and begins like a file of another kind" if media_type(kind) in HTML else ""
        return Dead(DeadReason.UNSUPPORTED_CONTENT_TYPE, f"{kind}{belied}")
    said = response.validators
    return Fetched(
        said.etag,
        said.last_modified,
        sha256(response.content.body).digest(),
        # The same page under a better spelling: asked for so from now on.
        fetch_url=final.url if final.url != canonicalise(lease.url).url else None,
    )


def is_page_of(lease: Lease, url: CanonicalUrl) -> bool:
    """Whether a URL is another spelling of the lease's. The entry may still wait for its key by changed rules."""
    return url.url_hash in (lease.url_hash, canonicalise(lease.url).url_hash)


def is_html(response: Response) -> bool:
    """Said so and not belied by its first bytes, or without a word begun like a page."""
    kind = media_type(response.headers.get("Content-Type", ""))
    if not kind:
        return response.body.lstrip()[:1] == b"<"
    return kind in HTML and not is_file(response.body)


def judge_reading(read: ReadPage, fetched: Fetched, *, crawls: bool) -> Verdict:
    """The verdict on a page once it was read. On a site that is crawled a page may be there for its links."""
    if isinstance(read, UnreadablePage):
        # The page is blamed for the death of its own child only, and not at the first time.
        return RetryLater("extract_failed", read.how, gives_up_as=DeadReason.POISON)
    if isinstance(read, Harvest):
        return fetched
    if read.is_soft_404:
        return Dead(DeadReason.EXTRACT_FAILED, "says that there is no such page")
    if isinstance(read, Article) or (crawls and read.reason is not NoArticleReason.CHALLENGE):
        return fetched
    if read.reason is NoArticleReason.CHALLENGE:
        return challenged(OK)
    if read.page_type is PageType.LISTING:
        return fetched
    words = "1 word" if read.word_count == 1 else f"{read.word_count} words"
    return Dead(DeadReason.EXTRACT_FAILED, f"{read.reason}: {words}")


def judge_withdrawn(verdict: Fetched | Unchanged, withdraws: str) -> Fetched | Unchanged:
    """Nothing is remembered of a page that no search may find: what says so may stand beside it, and when that is taken
    back, the page is read as if it were new.
    """
    if withdraws != SEARCH_REFUSED:
        return verdict
    fetched = verdict if isinstance(verdict, Fetched) else Fetched(revisit_in=verdict.revisit_in, no_document=withdraws)
    return replace(fetched, etag=None, last_modified=None, content_hash=None)


def why_no_document(read: ReadPage, *, is_search_refused: bool = False) -> str | None:
    """The word for it, of a page that was read and settled; None where one was made."""
    match read:
        case Harvest() if is_search_refused:
            return SEARCH_REFUSED
        case Harvest(vacancies=vacancies):
            return "vacancy" if vacancies else "no_vacancy"
        case Article(page_type=PageType.LISTING) | NotAnArticle(page_type=PageType.LISTING):
            return "listing"
        case NotAnArticle(reason=reason):
            return str(reason)
        case Article(robots=robots) if robots.noindex:
            return "noindex"
        case Article() if is_search_refused:
            return SEARCH_REFUSED
        case _:
            return None


def is_refused(verdict: Verdict) -> bool:
    """The page is there and is not shown to us: what its channel says of it is all we shall have."""
    match verdict:
        case Dead(DeadReason.FORBIDDEN | DeadReason.ROBOTS_BLOCKED | DeadReason.PAYMENT_REQUIRED):
            return True
        case RetryLater(gives_up_as=DeadReason.FORBIDDEN | DeadReason.PAYMENT_REQUIRED):
            return True
        case _:
            return False


def judge_bad_redirect(reason: str) -> Verdict:
    if reason == Flaw.TOO_MANY_REDIRECTS:
        return Dead(DeadReason.TOO_MANY_REDIRECTS)
    return RetryLater("bad_redirect", reason)


def judge_problem(problem: FetchProblem) -> Verdict:
    match problem.kind:
        case Problem.BLOCKED_ADDRESS:
            return Dead(DeadReason.BLOCKED_ADDRESS, problem.detail)
        case Problem.TOO_LARGE:
            return Dead(DeadReason.TOO_LARGE, problem.detail)
        case kind if kind in NAME_PROBLEMS:
            return RetryLater(kind, problem.detail, gives_up_as=DeadReason.UNREACHABLE, is_connection=True)
        case kind:
            return RetryLater(kind, problem.detail, is_connection=kind in CONNECTION_PROBLEMS)
