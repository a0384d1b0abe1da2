"""Who we say we are, in every request. Pure."""

from dataclasses import dataclass

from headwater import __version__
from headwater.settings.groups import FetchSettings

# The page for people whose sites we visit, under the public address of the web role.
SITE_OWNERS_PLACE = "/crawler"


@dataclass(frozen=True, slots=True)
class Identity:
    """One user agent per installation; its product token is what robots.txt is matched with."""

    user_agent: str
    contact: str = ""

    @property
    def product_token(self) -> str:
        """The name before the version: robots.txt directives for it are for us."""
        return self.user_agent.partition("/")[0].strip()

    @property
    def headers(self) -> dict[str, str]:
        email = self.contact.removeprefix("mailto:")
        return {"User-Agent": self.user_agent} | ({"From": email} if "@" in email else {})


def identity_of(settings: FetchSettings, public_url: str = "") -> Identity:
    """`public_url`: of the web role, which has a page for site owners. One that is not https is nobody's business."""
    if settings.user_agent:
        return Identity(settings.user_agent, settings.contact)
    page = f"{public_url.rstrip('/')}{SITE_OWNERS_PLACE}" if public_url.startswith("https://") else ""
    about = "; ".join(f"{sign}{told}" for sign, told in (("+", page), ("" if page else "+", settings.contact)) if told)
    return Identity(f"Headwater/{__version__}{f' ({about})' if about else ''}", settings.contact)
