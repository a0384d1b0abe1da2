"""How psql is called: the password travels in the environment, where other users cannot read it."""

from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from headwater.settings.environment import surroundings


def command_for(program: Path, dsn: str) -> tuple[list[str], dict[str, str]]:
    parts = urlsplit(dsn)
    environment = surroundings() | {"PGAPPNAME": "headwater db shell"}
    if parts.password is None:
        return [str(program), dsn], environment
    userinfo, _, place = parts.netloc.rpartition("@")
    bare = urlunsplit(parts._replace(netloc=f"{userinfo.partition(':')[0]}@{place}"))
    return [str(program), bare], environment | {"PGPASSWORD": unquote(parts.password)}
