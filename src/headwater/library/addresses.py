"""URLs and robots.txt, decided as the service decides them."""

from headwater.errors import UsageError
from headwater.library.given import bytes_of, text_of
from headwater.library.values import RobotsRule, RobotsRules, Url
from headwater.politeness.robots import parse_robots, token_of
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import registrable_domain


def url_from(url: object, base: object) -> Url:
    found = canonicalise(text_of(url, "url"), base=None if base is None else text_of(base, "base"))
    return Url(
        url=found.url,
        key=found.key,
        id=found.url_hash.hex(),
        host=found.host,
        domain=registrable_domain(found.host),
    )


def rules_from(body: object, agent: object) -> RobotsRules:
    token = token_of(text_of(agent, "agent"))
    if not token:
        raise UsageError(
            "The agent has no product token.", fix="Begin it with letters, as `examplebot` or `ExampleBot/1.0`."
        )
    parsed = parse_robots(bytes_of(body, "robots.txt"), token)

    def decide(url: str) -> RobotsRule:
        written = text_of(url, "url")
        # A path alone gets an address, so that it is spelt as the path of a whole URL is.
        decision = parsed.decide(canonicalise(written, base="https://robots.invalid/").target)
        return RobotsRule(decision.allowed, decision.line_number or 0, decision.rule_text or "")

    return RobotsRules(agent=token, crawl_delay=parsed.crawl_delay, sitemaps=parsed.sitemaps, _decide=decide)
