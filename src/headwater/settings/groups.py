"""Every setting, in frozen groups. The descriptions are the documentation: `make docs` prints them."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic.fields import FieldInfo

from headwater.settings.durations import FOREVER, DaysOrForever, Duration


def _split_commas(value: object) -> object:
    """Lists are lists in a file, and separated by commas in the environment."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _number(value: object) -> object:
    """Numbers are words everywhere but in a file."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value.strip(), re.ASCII) else value


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


def _networks(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        try:
            network = ip_network(value, strict=False)
        except ValueError:
            raise ValueError(f"should be addresses or networks such as 10.0.0.5 or 10.0.0.0/24, not {value}") from None
        if network.prefixlen == 0:
            raise ValueError(f"should name machines of yours: {value} is everybody")
    return values


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        is_whole = not value or (parts.scheme in ("http", "https") and bool(parts.hostname))
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ValueError("should be an address such as https://headwater.example.org")
    return value


def _server_address(value: str) -> str:
    """Without a password, which would be told in errors, and without a path, which S3 takes for a bucket."""
    parts = urlsplit(_web_address(value))
    if "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("should be a scheme, a host and a port only; credentials have settings of their own")
    return value.rstrip("/")


_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_KEY_PREFIX = re.compile(r"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*")


def _bucket_name(value: str) -> str:
    if value and not _BUCKET.fullmatch(value):
        raise ValueError("should be 3 to 63 small letters, digits, dots and hyphens")
    return value


def _key_prefix(value: str) -> str:
    name = value.strip("/")
    if name and not _KEY_PREFIX.fullmatch(name):
        raise ValueError("should be names of letters, digits, - and _ with / between them")
    return name


_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_TAKEN_HEADERS = frozenset({"authorization", "cookie", "host", "origin", "content-type", "content-length"})


def _header_name(value: str) -> str:
    if value and (not _HEADER.fullmatch(value) or value.lower() in _TAKEN_HEADERS):
        raise ValueError("should be the name of a header such as X-Remote-User, and none with another meaning")
    return value.lower()


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
    """Lines on standard error: from which level on, and in which form."""

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
    embedded_version: Annotated[Literal[16, 18], BeforeValidator(_number)] = Field(
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
    """Connections to the web: which are allowed, and from where."""

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
    egress_addresses: Annotated[Texts, AfterValidator(_networks)] = Field(
        (),
        description="Public addresses or networks that requests leave from where this machine does not see them: "
        "behind NAT or a proxy. Told to site owners.",
    )
    dns_timeout: Duration = Field(timedelta(seconds=5), description="Longest wait for a name to be resolved.")
    proxy: SecretStr | None = Field(None, description="An HTTP proxy; refused unless it is declared trusted.")
    proxy_is_trusted: bool = Field(
        False, description="Whether the proxy itself refuses private addresses: ours cannot be guarded behind it."
    )


class IdentitySettings(SettingsGroup):
    """Web Bot Auth: signatures by which a publisher tells our requests from an impostor's; `headwater[identity]`."""

    sign: bool = Field(
        False,
        description="Sign requests over https. Needs a key (`headwater identity init`) and an https `web.public_url`, "
        "under which verifiers fetch it.",
    )
    key_file: Path | None = Field(
        None,
        description="The file of the key, which only its owner may read; empty means `identity.json` in the data "
        "directory. Roles on other machines need a copy.",
    )
    agent_form: Literal["dictionary", "string"] = Field(
        "dictionary",
        description="How the header `Signature-Agent` is written: `string` is for servers of the drafts before 2026.",
    )
    nonce: bool = Field(
        False,
        description="A signature of its own, with a nonce, for each request, for servers that take none twice; else "
        "one serves a host for an hour.",
    )


class PolitenessSettings(SettingsGroup):
    """The pace at a host of which nothing else is known."""

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
    change_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        30, description="Days of the log of changes that are kept: a sink that is away for longer is filled anew."
    )
    audit_days: Annotated[int, Field(ge=1, le=3650)] = Field(400, description="Days of the audit log that are kept.")
    rollup_days: Annotated[int, Field(ge=3, le=3650)] = Field(
        400, description="Days that the figures of each hour are kept, for charts; those of each minute two days."
    )
    source_rollup_days: Annotated[int, Field(ge=8, le=3650)] = Field(
        35, description="Days that the figures of each source by the hour are kept."
    )


class ArchiveSettings(SettingsGroup):
    """Where raw bodies are kept: in the database, in a folder, or in an S3-compatible store."""

    raw_store: Literal["database", "folder", "s3"] = Field(
        "database",
        description="Where bodies that come from now on are kept; those of before are read from where they are. `s3` "
        "needs `headwater[s3]`.",
    )
    raw_folder: Path | None = Field(
        None, description="The folder, which all roles must reach; empty means `raw` in the data directory."
    )
    s3_endpoint: Annotated[str, AfterValidator(_server_address)] = Field(
        "",
        max_length=2_000,
        description="Address of the S3-compatible store, such as `https://minio.example.org:9000`; empty is Amazon's "
        "of the region.",
    )
    s3_bucket: Annotated[str, AfterValidator(_bucket_name)] = Field(
        "", max_length=63, description="The bucket, which must be there already."
    )
    s3_prefix: Annotated[str, AfterValidator(_key_prefix)] = Field(
        "",
        max_length=200,
        description="Begins every key in it, such as `headwater/raw`; each installation's have its id behind.",
    )
    s3_region: str = Field("us-east-1", max_length=100, description="Region of the bucket.")
    s3_key_id: SecretStr | None = Field(
        None,
        description="Access key that may put, get, list and delete there; empty means as AWS's own programs find it: "
        "`AWS_ACCESS_KEY_ID`, or the role of the machine.",
    )
    s3_secret: SecretStr | None = Field(None, description="Its secret.")


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


class DeliverSettings(SettingsGroup):
    """Sinks that settings make by themselves; `headwater sinks add` makes any others."""

    elasticsearch_url: SecretStr | None = Field(
        None,
        description="Address of Elasticsearch or OpenSearch: makes the sink `elasticsearch`, layout raw_content.",
    )
    meili_url: SecretStr | None = Field(
        None, description="Address of Meilisearch: makes the sink `meilisearch` for vacancies."
    )
    meili_key: SecretStr | None = Field(None, description="Key of Meilisearch that may write documents and settings.")
    meili_jobs_index: str = Field("jobs_index", max_length=200, description="Index of vacancies in Meilisearch.")


class SearchSettings(SettingsGroup):
    """Who answers searches of the archive."""

    engine: Literal["postgresql", "opensearch"] = Field(
        "postgresql",
        description="`opensearch` asks the server that a sink of the layout `search` fills; so does `postgresql` once "
        "`headwater db search-engine opensearch` has switched its search columns off.",
    )
    sink: str = Field("", max_length=63, description="That sink by its name; unless said, the only one of that layout.")


class WebSettings(SettingsGroup):
    """The web role: the API and what else is reached over HTTP."""

    host: str = Field(
        "127.0.0.1", max_length=255, description="Address to listen at; the default is this machine alone."
    )
    port: int = Field(8080, ge=0, le=65_535, description="Port to listen at; 0 takes a free one.")
    public_url: Annotated[str, AfterValidator(_web_address)] = Field(
        "",
        max_length=2_000,
        description="Under which others reach it, such as `https://headwater.example.org`; hubs push to an https "
        "one only.",
    )
    allowed_hosts: Texts = Field((), description="Further names by which it may be called, without ports.")
    login: Literal["auto", "always", "never"] = Field(
        "auto",
        description="Who has to log in. `auto`: nobody on this machine until there is a user or a token, then "
        "everybody; `never` is possible on this machine alone.",
    )
    session_idle: Annotated[Duration, Field(ge=timedelta(minutes=2))] = Field(
        timedelta(hours=12), description="A login ends after so long without a request."
    )
    session_lifetime: Annotated[Duration, Field(ge=timedelta(minutes=2))] = Field(
        timedelta(days=7), description="A login ends after so long in any case."
    )
    trusted_proxies: Annotated[Texts, AfterValidator(_networks)] = Field(
        (), description="Addresses of reverse proxies, such as `10.0.0.5/32`: only they are believed about callers."
    )
    proxy_user_header: Annotated[str, AfterValidator(_header_name)] = Field(
        "", description="Header in which a trusted proxy says who has logged in there, such as `X-Remote-User`."
    )
    proxy_role_header: Annotated[str, AfterValidator(_header_name)] = Field(
        "", description="Header in which it says the role: viewer, operator or admin; of several the highest."
    )
    proxy_role: Literal["none", "viewer", "operator", "admin"] = Field(
        "viewer", description="Role of people whose role the proxy does not say; `none` refuses them."
    )
    public_sources: bool = Field(
        False, description="Whether everybody who reaches it may list and read sources, without saying who they are."
    )


class Settings(SettingsGroup):
    """All groups. Load with `headwater.settings.load`; pass down only the group a part needs."""

    service: ServiceSettings = ServiceSettings()
    log: LogSettings = LogSettings()
    database: DatabaseSettings = DatabaseSettings()
    fetch: FetchSettings = FetchSettings()
    network: NetworkSettings = NetworkSettings()
    identity: IdentitySettings = IdentitySettings()
    politeness: PolitenessSettings = PolitenessSettings()
    extract: ExtractSettings = ExtractSettings()
    lease: LeaseSettings = LeaseSettings()
    keep: KeepSettings = KeepSettings()
    archive: ArchiveSettings = ArchiveSettings()
    poll: PollSettings = PollSettings()
    deliver: DeliverSettings = DeliverSettings()
    search: SearchSettings = SearchSettings()
    web: WebSettings = WebSettings()


class Setting(NamedTuple):
    path: str  # "fetch.contact"
    field: FieldInfo
    group: type[SettingsGroup]
    attribute: str  # its name in the group's code

    @property
    def is_secret(self) -> bool:
        return "SecretStr" in str(self.field.annotation)


def every_setting() -> Iterator[Setting]:
    for group_name, group_field in Settings.model_fields.items():
        group = group_field.annotation
        assert isinstance(group, type)
        assert issubclass(group, SettingsGroup)
        for name, field in group.model_fields.items():
            yield Setting(f"{group_name}.{field.alias or name}", field, group, name)
