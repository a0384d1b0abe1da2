"""Who we say we are, in every request. Pure."""

from dataclasses import dataclass

from headwater import __version__
from headwater.settings.groups import FetchSettings


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


def identity_of(settings: FetchSettings) -> Identity:
    if settings.user_agent:
        return Identity(settings.user_agent, settings.contact)
    about = f" (+{settings.contact})" if settings.contact else ""
    return Identity(f"Headwater/{__version__}{about}", settings.contact)
