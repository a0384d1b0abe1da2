"""Every setting, in frozen groups. The descriptions are the documentation: `make docs` prints them."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic.fields import FieldInfo

from headwater.settings.durations import FOREVER, DaysOrForever, Duration


def _split_commas(value: object) -> object:
    """Lists are lists in a file, and separated by commas in the environment."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _in_our_words(words: Mapping[str, str]) -> BeforeValidator:
    """Words of other systems for ours, in any letter case."""

    def read(value: object) -> object:
        word = value.strip().lower() if isinstance(value, str) else value
        return words.get(word, word) if isinstance(word, str) else word

    return BeforeValidator(read)


_MODES = {"production": "prod", "staging": "prod", "development": "dev", "local": "dev", "test": "dev"}
_LEVELS = {"warn": "warning", "trace": "debug", "fatal": "error", "panic": "error", "critical": "error"}
_FORMATS = {"text": "console", "pretty": "console"}

# No name of PostgreSQL's own, and none that would have to be quoted.
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
# What PostgreSQL 13 to 18 reserve, partly or wholly: `create schema` takes none of them unquoted.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
    column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze
    from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
    localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
    returning right select session_user similar some symmetric system_user table tablesample then to trailing true union
    unique user using variadic verbose when where window with
    """,
    )
)


def _schema_name(value: object) -> object:
    if isinstance(value, str) and value.strip():
        name = value.strip()
        if not _SCHEMA.fullmatch(name) or name == "information_schema":
            raise ValueError("should be a name of at most 63 small letters, digits and _ that does not begin with pg_")
        if name in _RESERVED:
            raise ValueError(f"should be another name: {name} is a word of SQL, which PostgreSQL takes for no schema")
    return value


Texts = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
Count = Annotated[int, Field(ge=1, le=100_000)]
CountOrNone = Annotated[int, Field(ge=0, le=100_000)]


class SettingsGroup(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class ServiceSettings(SettingsGroup):
    """The installation as a whole."""

    mode: Annotated[Literal["dev", "prod"], _in_our_words(_MODES)] = Field(
        "prod",
        description="`prod` tells an unforeseen error by its type and place, and a database's without rows it quotes; "
        "`dev` tells tracebacks and names of statements.",
    )
    data_dir: Path | None = Field(
        None,
        description="Where the embedded database and exports live; empty means the platform's usual place.",
    )


class LogSettings(SettingsGroup):
    """What is written to standard error."""

    level: Annotated[Literal["debug", "info", "warning", "error"], _in_our_words(_LEVELS)] = Field(
        "info", description="Least important level that is written."
    )
    format: Annotated[Literal["auto", "json", "console"], _in_our_words(_FORMATS)] = Field(
        "auto",
        description="One JSON object per line, or text with every field; `auto` is sentences on a terminal, else JSON.",
    )


class DatabaseSettings(SettingsGroup):
    """PostgreSQL 15 or newer; without a URL the embedded server is started in the data directory."""

    url: SecretStr | None = Field(
        None, description="`postgresql://user:password@host:5432/name`; empty means embedded."
    )
    # `schema` is a method of pydantic's models, so the field needs another name than the setting.
    own_schema: Annotated[str, BeforeValidator(_schema_name)] = Field(
        "",
        alias="schema",
        description="A schema of Headwater's own for all its tables, made when missing; empty means the usual one.",
    )
    pool_size: Count = Field(
        10,
        description="Most connections in the pool of one process; a role has up to three more.",
    )
    pooler: bool = Field(
        False,
        description="Set when a pooler such as pgbouncer stands between us and PostgreSQL; one that is not mentioned "
        "is noticed when a connection is made.",
    )
    direct_url: SecretStr | None = Field(
        None,
        description="Behind a pooler: the address of the server itself, as in `database.url`, to wait there for new "
        "work, to migrate and for `db shell`. Without it new work is looked for instead.",
    )
    acquire_timeout: Duration = Field(timedelta(seconds=10), description="Longest wait for a free connection.")
    statement_timeout: Duration = Field(timedelta(seconds=30), description="Longest time one statement may run.")
    embedded_version: Literal[16, 18] = Field(
        18, description="Which of the bundled PostgreSQL servers a new cluster gets."
    )


class FetchSettings(SettingsGroup):
    """How pages are requested."""

    user_agent: str = Field(
        "",
        max_length=300,
        description="Sent with every request; empty means `Headwater/<version> (+<contact>)`.",
    )
    contact: str = Field("", max_length=200, description="Address or page where a site owner reaches you.")
    concurrency: Count = Field(10, description="Requests one worker process has under way at once.")
    max_retries: CountOrNone = Field(3, description="Failed attempts before an entry is dead.")
    retries_in_place: CountOrNone = Field(
        2, description="Quick retries of one request before it goes back to the queue."
    )
    claim_retry_delay: Duration = Field(
        timedelta(seconds=1), description="Longest sleep of a worker that found nothing to claim."
    )
    total_timeout: Duration = Field(
        timedelta(seconds=30), description="Deadline of one request, whatever the server does."
    )
    connect_timeout: Duration = Field(timedelta(seconds=10), description="Longest wait for a connection.")
    read_timeout: Duration = Field(timedelta(seconds=30), description="Longest silence of a server in mid-answer.")
    max_redirects: CountOrNone = Field(5, description="Redirects followed for one entry.")
    max_body_bytes: Annotated[int, Field(ge=1)] = Field(
        10 * 1024 * 1024,
        description="Largest body after decompression, unless the host's policy says otherwise.",
    )
    max_idle_connections: CountOrNone = Field(100, description="Idle connections kept for reuse; 0 is no limit.")
    max_connections_per_host: CountOrNone = Field(10, description="Idle connections kept per host; 0 is no limit.")
    idle_timeout: Duration = Field(timedelta(seconds=90), description="How long an idle connection is kept.")


class NetworkSettings(SettingsGroup):
    """What connections are made, and from where."""

    allow: Texts = Field(
        (),
        description="Places that may be asked although they are not public, such as `10.0.0.0/8:8080`.",
    )
    ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65535)], ...], BeforeValidator(_split_commas)] = Field(
        (80, 443, 8080, 8443), description="Ports that may be asked on public addresses."
    )
    local_addresses: Texts = Field(
        (), description="Addresses of this machine to send from; each host is always asked from the same one."
    )
    dns_timeout: Duration = Field(timedelta(seconds=5), description="Longest wait for a name to be resolved.")
    proxy: SecretStr | None = Field(None, description="An HTTP proxy; refused unless it is declared trusted.")
    proxy_is_trusted: bool = Field(
        False, description="Whether the proxy itself refuses private addresses: ours cannot be guarded behind it."
    )


class PolitenessSettings(SettingsGroup):
    """What every host may expect of us when nothing else is known about it."""

    enabled: bool = Field(
        True,
        description="False leaves the delay out for hosts inside network.allow that are not public; never elsewhere.",
    )
    delay: Duration = Field(timedelta(seconds=1), description="Time between two request starts to one host.")
    address_delay: Duration = Field(
        timedelta(seconds=1),
        description="Time between two requests to an address with many names, shared hosts excepted; 0 is off.",
    )


class ExtractSettings(SettingsGroup):
    """How pages and answers of channels are read: in child processes, so that none can harm more than its own."""

    children: CountOrNone = Field(0, description="Child processes of one worker; 0 means one per core.")
    timeout: Duration = Field(
        timedelta(seconds=10), description="Longest time one page, or one answer of a channel, may be read."
    )
    memory_mb: Annotated[int, Field(ge=256, le=65536)] = Field(
        512, description="Most address space one child may use, in MB."
    )
    templates: bool = Field(True, description="Learn each host's layout and read its pages by it.")
    audit_percent: Annotated[float, Field(ge=0, le=100)] = Field(
        2, description="Share of pages read by a template that the general extractor reads as well, in per cent."
    )
    template_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        30, description="A learned template that was not used for so many days is given up."
    )
    hurry_after: Duration = Field(
        timedelta(seconds=5), description="When pages wait longer than this to be read, only their densest part is."
    )


class LeaseSettings(SettingsGroup):
    """How long work belongs to one worker, and how soon it is taken back from a dead one."""

    duration: Duration = Field(timedelta(seconds=60), description="A lease ends this long after its last heartbeat.")
    sweep_every: Duration = Field(timedelta(seconds=10), description="How often expired leases are looked for.")


class KeepSettings(SettingsGroup):
    """How long history and documents are kept; docs/operations.md has a table of all that grows."""

    fetch_log_days: Annotated[int, Field(ge=1, le=3650)] = Field(30, description="Days of the fetch log that are kept.")
    run_days: Annotated[int, Field(ge=1, le=3650)] = Field(90, description="Days of the log of runs that are kept.")
    raw_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        30, description="Days raw bodies are kept: so far back extraction can be run again."
    )
    item_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        60, description="Days an item is remembered after its channel listed it last."
    )
    document_days: DaysOrForever = Field(
        FOREVER,
        description="Days a document is kept after it changed last, or `forever`. One that is removed is deleted at "
        "sinks, and comes back only with another text.",
    )
    version_days: DaysOrForever = Field(
        FOREVER, description="Days a former version of a document is kept after it was replaced, or `forever`."
    )
    outbox_days: DaysOrForever = Field(30, description="Days a change waits in the outbox for a sink, or `forever`.")


class PollSettings(SettingsGroup):
    """When channels are asked for news."""

    enabled: bool = Field(True, description="False stops the schedule; `headwater crawl run-due` still polls.")
    tick: Duration = Field(timedelta(seconds=30), description="Longest time between two looks for due channels.")
    concurrency: CountOrNone = Field(
        0, description="Channels one process polls at once; 0 follows the load, from 10 up to 100."
    )
    jobs_pool: Count = Field(3, description="Channels of job sources that all processes together poll at once.")
    jobs_batch: Count = Field(
        20, description="Where more channels of job sources are due, the others wait for the next batch."
    )
    jobs_every: Duration = Field(timedelta(minutes=5), description="Time between two such batches.")
    adaptive: bool = Field(
        True,
        description="Learn each channel's rhythm. False polls at the default interval, and `headwater crawl run-due` "
        "polls every channel, due or not.",
    )
    min_interval: Duration = Field(timedelta(minutes=15), description="No channel is polled more often.")
    max_interval: Duration = Field(timedelta(days=7), description="No channel is polled less often.")
    default_interval: Duration = Field(timedelta(hours=1), description="Interval while nothing is known of a channel.")
    respect_cache_control: bool = Field(True, description="A longer max-age of the server postpones the next poll.")
    jitter_percent: Annotated[float, Field(ge=0, le=50)] = Field(
        10, description="Random spread of intervals, in per cent."
    )
    update_redirects: bool = Field(
        True, description="A channel moved permanently is followed to its new address for good."
    )
    polls_per_hour: Annotated[float, Field(gt=0, le=60)] = Field(
        1.0, description="The budget of adaptive polling: polls an hour for each channel, on average over all of them."
    )
    foreign_urls_per_day: CountOrNone = Field(
        1000,
        description="URLs of other sites that one channel may queue in a day; the others are offered again.",
    )
    new_hosts_per_hour: CountOrNone = Field(
        500,
        description="New hosts that one source may bring in an hour; a person's own list has no limit.",
    )
    secrets_file: Path | None = Field(
        None,
        description="A file of NAME@https://host=value lines that APIs' recipes name as `{{SECRET:NAME}}`, each sent "
        "to its own host only; only you may read it.",
    )
    discovery: bool = Field(True, description="Look for feeds and sitemaps of sources that have none.")
    discovery_retry: Duration = Field(timedelta(days=7), description="Wait before a fruitless search is repeated.")
    sitemaps: bool = Field(True, description="Look for a sitemap of sources whose feed is followed, once.")


class SearchSettings(SettingsGroup):
    """Search systems documents are delivered to."""

    elasticsearch_url: SecretStr | None = Field(None, description="Address of Elasticsearch; empty means not used.")


class Settings(SettingsGroup):
    """All groups. Load with `headwater.settings.load`; pass down only the group a part needs."""

    service: ServiceSettings = ServiceSettings()
    log: LogSettings = LogSettings()
    database: DatabaseSettings = DatabaseSettings()
    fetch: FetchSettings = FetchSettings()
    network: NetworkSettings = NetworkSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    extract: ExtractSettings = ExtractSettings()
    lease: LeaseSettings = LeaseSettings()
    keep: KeepSettings = KeepSettings()
    poll: PollSettings = PollSettings()
    search: SearchSettings = SearchSettings()


class Setting(NamedTuple):
    path: str  # "fetch.contact"
    field: FieldInfo
    group: type[SettingsGroup]
    attribute: str  # its name in the group's code

    @property
    def is_secret(self) -> bool:
        return "SecretStr" in str(self.field.annotation)


# Accepted, checked and shown, and read by nothing: setting -> why.
INERT = {
    "search.elasticsearch_url": "no role of this version delivers to Elasticsearch",
}


def every_setting() -> Iterator[Setting]:
    for group_name, group_field in Settings.model_fields.items():
        group = group_field.annotation
        assert isinstance(group, type)
        assert issubclass(group, SettingsGroup)
        for name, field in group.model_fields.items():
            yield Setting(f"{group_name}.{field.alias or name}", field, group, name)
