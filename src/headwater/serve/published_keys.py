"""The directory of our keys as the web role serves it: made once a minute, however often it is asked for."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.clock import Clock
from headwater.errors import DependencyDown, NotFound, SettingError, as_fields
from headwater.log import Logger
from headwater.net.keys import identity_file, read_keys
from headwater.net.signing import KeyDirectory, agent_origin, authority_of, key_directory
from headwater.settings import Settings

MADE_ANEW = timedelta(minutes=1)


@dataclass(slots=True)
class PublishedKeys:
    """The directory of one web role; None while there is nothing to publish."""

    settings: Settings
    clock: Clock
    log: Logger
    _made: KeyDirectory | None = None
    _made_at: datetime | None = None
    _trouble: str = ""

    def now(self) -> KeyDirectory | None:
        now = self.clock.now()
        if self._made_at is None or not self._made_at <= now < self._made_at + MADE_ANEW:
            self._made, self._made_at = self._make(now), now
        return self._made

    def _make(self, now: datetime) -> KeyDirectory | None:
        """Signed for our public address, whatever name we are called by: behind a proxy that may be another one."""
        try:
            authority = authority_of(agent_origin(self.settings.web.public_url))
            made = key_directory(read_keys(identity_file(self.settings)), authority, now)
        except (NotFound, SettingError, DependencyDown) as error:
            if self.settings.identity.sign and error.what != self._trouble:
                self.log.warning("keys_not_published", **as_fields(error))
            self._trouble = error.what
            return None
        self._trouble = ""
        return made
