"""Who we are, provably: the key that requests are signed with, made, replaced and told to publishers."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from headwater.clock import Clock
from headwater.errors import SettingError
from headwater.net.identity import Identity, identity_of
from headwater.net.keys import KeyRing, identity_file, new_key, read_keys, write_keys
from headwater.net.signing import DIRECTORY_PLACE, agent_origin
from headwater.settings import Settings

KeyState = Literal["signs", "signed before", "signs later"]


@dataclass(frozen=True, slots=True)
class ShownKey:
    thumbprint: str
    state: KeyState
    used_from: datetime
    published_until: datetime | None
    jwk: dict[str, str | int]


@dataclass(frozen=True, slots=True)
class ShownIdentity:
    """`agent` is the origin that requests name, empty where `why_not` says why there is none."""

    identity: Identity
    file: Path
    keys: tuple[ShownKey, ...]
    is_signing: bool
    agent: str
    why_not: str
    addresses: tuple[str, ...]

    @property
    def directory(self) -> str:
        return f"{self.agent}{DIRECTORY_PLACE}" if self.agent else ""


def make_identity(settings: Settings, clock: Clock) -> ShownIdentity:
    """Never in the place of another."""
    write_keys(identity_file(settings), KeyRing((new_key(clock.now()),)), is_new=True)
    return shown_identity(settings, clock)


def rotate_identity(settings: Settings, clock: Clock, *, at_once: bool = False) -> ShownIdentity:
    """`at_once`: the key that there is has leaked, and is neither used nor published from now on."""
    file, now = identity_file(settings), clock.now()
    ring, new = read_keys(file), new_key(now)
    write_keys(file, KeyRing((new,)) if at_once else ring.rotated(now, new), is_new=False)
    return shown_identity(settings, clock)


def shown_identity(settings: Settings, clock: Clock) -> ShownIdentity:
    file, now = identity_file(settings), clock.now()
    ring = read_keys(file)
    signing = ring.signing_at(now)
    agent, why_not = _agent_of(settings)
    return ShownIdentity(
        identity_of(settings.fetch, settings.web.public_url),
        file,
        tuple(
            ShownKey(
                key.thumbprint,
                "signs" if key is signing else "signs later" if key.used_from > now else "signed before",
                key.used_from,
                key.published_until,
                key.as_public_jwk(),
            )
            for key in ring.published_at(now)
        ),
        settings.identity.sign,
        agent,
        why_not,
        known_addresses(settings),
    )


def known_addresses(settings: Settings) -> tuple[str, ...]:
    """From which requests leave, as far as a person has said so."""
    return settings.network.egress_addresses or settings.network.local_addresses


def _agent_of(settings: Settings) -> tuple[str, str]:
    try:
        return agent_origin(settings.web.public_url), ""
    except SettingError as error:
        return "", f"{error.what} {error.fix}"
