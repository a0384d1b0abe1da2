"""How psql is called: the password travels in the environment, where other users cannot read it."""

from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from headwater.settings.environment import surroundings


def command_for(program: Path, dsn: str) -> tuple[list[str], dict[str, str]]:
    parts = urlsplit(dsn)
    environment = surroundings() | {"PGAPPNAME": "headwater db shell"}
    userinfo, at, place = parts.netloc.rpartition("@")
    user, colon, password = userinfo.partition(":")
    # A driver takes it as a parameter, too.
    said = parse_qsl(parts.query, keep_blank_values=True)
    given = [unquote(password)] if colon else [value for name, value in said if name == "password"]
    if not given:
        return [str(program), dsn], environment
    # As %20: psql does not read a + as a space.
    query = urlencode([pair for pair in said if pair[0] != "password"], quote_via=quote)
    bare = urlunsplit(parts._replace(netloc=f"{user}{at}{place}", query=query))
    return [str(program), bare], environment | {"PGPASSWORD": given[-1]}
