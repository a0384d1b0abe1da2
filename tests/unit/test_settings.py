from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import SettingError
from headwater.settings import Given, every_setting, load
from headwater.settings.aliases import ALIASES, IGNORED
from headwater.settings.durations import format_duration, parse_duration, parse_span
from headwater.settings.environment import load_from_surroundings


def test_flag_beats_environment_beats_file_beats_default() -> None:
    document = {"fetch": {"concurrency": 1, "contact": "file", "max_retries": 7}}
    environment = {"HEADWATER_FETCH__CONCURRENCY": "2", "HEADWATER_FETCH__CONTACT": "env"}
    loaded = load(Given(flags={"fetch.concurrency": "3"}, environment=environment, document=document))
    fetch = loaded.settings.fetch
    assert (fetch.concurrency, fetch.contact, fetch.max_retries, fetch.max_redirects) == (3, "env", 7, 5)
    shown = [
        str(loaded.origins[f"fetch.{name}"]) for name in ("concurrency", "contact", "max_retries", "max_redirects")
    ]
    assert shown == [
        "flag",
        "environment HEADWATER_FETCH__CONTACT",
        "file headwater.toml: fetch.max_retries",
        "default",
    ]


def test_settings_cannot_be_changed_after_loading() -> None:
    settings = load(Given()).settings
    with pytest.raises(ValueError, match="frozen"):
        settings.fetch.concurrency = 5  # type: ignore[misc]


def test_our_own_name_beats_an_alias() -> None:
    loaded = load(Given(environment={"WORKER_COUNT": "16", "HEADWATER_FETCH_CONCURRENCY": "4"}))
    assert loaded.settings.fetch.concurrency == 4


def test_two_aliases_that_disagree_warn_and_the_first_holds() -> None:
    loaded = load(Given(environment={"INGESTION_CONCURRENCY": "20", "WORKER_COUNT": "16"}))
    assert loaded.settings.fetch.concurrency == 16
    assert loaded.warnings == ("INGESTION_CONCURRENCY is ignored: WORKER_COUNT sets fetch.concurrency already.",)


SAMPLES = {
    "database.url": ("postgresql://u:p@h/d", None),
    "deliver.elasticsearch_url": ("http://es:9200", None),
    "fetch.user_agent": ("NorthCloud-Crawler/1.0", "NorthCloud-Crawler/1.0"),
    "fetch.contact": ("a@b.org", "mailto:a@b.org"),
    "log.level": ("warning", "warning"),
    "log.format": ("json", "json"),
    "service.mode": ("dev", "dev"),
}


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.name)
def test_every_alias_reaches_its_setting(alias: object) -> None:
    from headwater.settings.aliases import Alias

    assert isinstance(alias, Alias)
    default = load(Given()).settings
    sample = SAMPLES.get(alias.setting, ("7", None))[0]
    if isinstance(_value(default, alias.setting), bool):
        sample = "false" if alias.rule != "inverted" else "true"
    section, _, name = alias.name.rpartition(".")
    given = (
        Given(environment={alias.name: sample})
        if alias.place == "environment"
        else Given(document={section: {name: sample}} if section else {name: sample})
    )
    loaded = load(given)
    assert _value(loaded.settings, alias.setting) != _value(default, alias.setting)
    assert alias.name in loaded.origins[alias.setting].name
    if expected := SAMPLES.get(alias.setting, ("", None))[1]:
        assert _value(loaded.settings, alias.setting) == expected


def _value(settings: object, path: str) -> object:
    group, name = path.split(".")
    return getattr(getattr(settings, group), name)


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        ({"rate_limit_per_second": 4.0}, "politeness.delay", timedelta(milliseconds=250)),
        ({"max_idle_connections": -1}, "fetch.max_idle_connections", 100),
        ({"max_idle_connections": 0}, "fetch.max_idle_connections", 0),
        ({"http_timeout": 0}, "fetch.total_timeout", timedelta(seconds=30)),
        ({"connect_timeout": 5}, "fetch.connect_timeout", timedelta(seconds=5)),
        ({"enable_rate_limiting": False}, "politeness.enabled", False),
        ({"min_fetch_interval": 900}, "poll.min_interval", timedelta(minutes=15)),
    ],
)
def test_keys_of_older_configuration_files_keep_their_meaning(
    document: dict[str, object], path: str, expected: object
) -> None:
    assert _value(load(Given(document=document)).settings, path) == expected


def test_a_name_without_meaning_here_is_accepted_with_a_warning() -> None:
    for name in IGNORED:
        assert name in load(Given(environment={name: "http://x"})).warnings[0]


@pytest.mark.parametrize(
    ("environment", "path", "expected"),
    [
        ({"LOG_LEVEL": "warn"}, "log.level", "warning"),
        ({"LOG_LEVEL": "INFO"}, "log.level", "info"),
        ({"LOG_LEVEL": "Fatal"}, "log.level", "error"),
        ({"HEADWATER_LOG__LEVEL": "WARN"}, "log.level", "warning"),
        ({"LOG_FORMAT": "text"}, "log.format", "console"),
        ({"LOG_FORMAT": "JSON"}, "log.format", "json"),
        ({"AIDJOBS_ENV": "production"}, "service.mode", "prod"),
        ({"AIDJOBS_ENV": "development"}, "service.mode", "dev"),
    ],
)
def test_words_of_other_systems_mean_ours(environment: dict[str, str], path: str, expected: str) -> None:
    assert _value(load(Given(environment=environment)).settings, path) == expected


def test_a_word_that_means_nothing_is_still_refused() -> None:
    with pytest.raises(SettingError, match=r"log\.level = 'loud' \(environment LOG_LEVEL\)"):
        load(Given(environment={"LOG_LEVEL": "loud"}))


PLANET = """\
# The settings of a planet
[planet]
name = My Planet
link = https://planet.example.com
days = 7
log_level = warn
concurrent_fetches = 20
user_agent = RoguePlanet/0.3 (+https://planet.example.com/about)
max_idle_connections = -1
http_timeout = 45
rate_limit_per_second = 2.0
adaptive_scheduling = false

[database]
path = ./data/planet.db
"""


def test_an_ini_file_with_a_planet_section_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.ini"
    file.write_text(PLANET)
    loaded = load_from_surroundings(file=file)
    settings = loaded.settings
    assert (settings.log.level, settings.poll.concurrency, settings.poll.adaptive) == ("warning", 20, False)
    assert settings.fetch.user_agent == "RoguePlanet/0.3 (+https://planet.example.com/about)"
    assert settings.fetch.total_timeout == timedelta(seconds=45)
    assert settings.fetch.max_idle_connections == 100
    assert settings.politeness.delay == timedelta(milliseconds=500)
    assert str(loaded.origins["fetch.total_timeout"]) == f"file {file}: planet.http_timeout"
    ignored = [warning.partition(" in ")[0] for warning in loaded.warnings]
    assert ignored == ["planet.name", "planet.link", "planet.days", "database.path"]


def test_names_of_ours_may_stand_in_an_ini_file_with_or_without_sections(tmp_path: Path) -> None:
    file = tmp_path / "older.ini"
    file.write_text("http_timeout = 5\n; remark\n[fetch]\ncontact = https://example.org/100%\n")
    settings = load_from_surroundings(file=file).settings
    assert (settings.fetch.total_timeout, settings.fetch.contact) == (timedelta(seconds=5), "https://example.org/100%")


POLLER = """\
app:
  environment: development
logger:
  level: WARN
feed_poller:
  enabled: false
  poll_interval: 45s
  max_concurrency: 4
server:
  security: {cors: {allowed_origins: ["*"]}}
"""


def test_the_yaml_of_the_feed_poller_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    file.write_text(POLLER)
    loaded = load_from_surroundings(file=file)
    poll = loaded.settings.poll
    assert (poll.enabled, poll.tick, poll.concurrency) == (False, timedelta(seconds=45), 4)
    assert (loaded.settings.log.level, loaded.settings.service.mode) == ("warning", "dev")
    assert loaded.warnings == (f"server.security in {file} is ignored: Headwater has no server of this kind.",)


def test_in_a_file_our_own_name_beats_an_alias() -> None:
    document = {"poll": {"tick": "9s"}, "feed_poller": {"poll_interval": "45s"}}
    assert load(Given(document=document)).settings.poll.tick == timedelta(seconds=9)


def test_two_names_in_a_file_that_disagree_warn_and_the_first_holds() -> None:
    loaded = load(Given(document={"http_timeout": 5, "planet": {"http_timeout": 6}}))
    assert loaded.settings.fetch.total_timeout == timedelta(seconds=5)
    assert "planet.http_timeout is ignored" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.ini", "[planet]\nhttp_timeout = 5\nnonsense\n", "is not valid INI: line 3 is neither"),
        (
            "a.ini",
            "[planet]\ndays = 5\ndays = 6\n",
            "is not valid INI: option 'days' in section 'planet' already exists",
        ),
        ("a.yaml", "feed_poller: {", "is not valid YAML: while parsing"),
        ("a.yaml", "- feed_poller", "is not valid YAML: it holds no names and values"),
        ("a.yaml", "feed_poller: {tick: 3}", r"Unknown setting in .*a\.yaml: feed_poller\.tick"),
        ("a.toml", "x", "is not valid TOML"),
        ("a.toml", "[fetch]\ncontact = 'caf\udce9'", "is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text, "utf-8", "surrogateescape")
    with pytest.raises(SettingError, match=sentence):
        load_from_surroundings(file=tmp_path / name)


def test_a_burst_for_all_hosts_is_ignored_and_told() -> None:
    for document in ({"rate_limit_burst": 9}, {"planet": {"rate_limit_burst": 9}}):
        [warning] = load(Given(document=document)).warnings
        assert "rate_limit_burst" in warning
        assert "hosts policy set" in warning


@pytest.mark.parametrize("name", ["headwater", "hw_2", "_x", ""])
def test_a_schema_is_named_by_an_identifier(name: str) -> None:
    assert load(Given(environment={"HEADWATER_DATABASE__SCHEMA": name})).settings.database.own_schema == name


@pytest.mark.parametrize("name", ["pg_mine", "Public", "a-b", 'a"; drop table x', "1a", "x" * 64, "information_schema"])
def test_what_is_no_identifier_is_no_schema(name: str) -> None:
    with pytest.raises(SettingError, match=r"database\.schema = .* should be a name of at most 63"):
        load(Given(environment={"HEADWATER_DATABASE__SCHEMA": name}))


@pytest.mark.parametrize("name", ["user", "default", "select", "all", "join", "system_user"])
def test_a_reserved_word_is_no_schema(name: str) -> None:
    with pytest.raises(SettingError, match=rf"{name} is a word of SQL"):
        load(Given(environment={"HEADWATER_DATABASE__SCHEMA": name}))


def test_a_secret_can_stand_in_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("postgresql://u:hunter2@h/d\n")
    for name in ("HEADWATER_DATABASE__URL_FILE", "FRONTIER_DB_URL_FILE"):
        loaded = load(Given(environment={name: str(secret)}, read_file=lambda path: Path(path).read_text()))
        assert loaded.settings.database.url is not None
        assert loaded.settings.database.url.get_secret_value() == "postgresql://u:hunter2@h/d"
        assert "hunter2" not in repr(loaded)


def test_a_secret_file_that_is_missing_is_one_sentence() -> None:
    given = Given(
        environment={"HEADWATER_DATABASE__URL_FILE": "/no/such"}, read_file=lambda path: Path(path).read_text()
    )
    with pytest.raises(SettingError, match=r"names the file /no/such, which cannot be read"):
        load(given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Given(environment={"WORKER_COUNT": "ten"}), r"fetch\.concurrency = 'ten' \(environment WORKER_COUNT\)"),
        (Given(document={"fetch": {"concurrency": 0}}), r"greater than or equal to 1"),
        (Given(document={"fetch": {"concurency": 3}}), r"Unknown setting in headwater\.toml: fetch\.concurency"),
        (Given(document={"nonsense": 3}), r"Unknown setting in headwater\.toml: nonsense"),
        (Given(environment={"HEADWATER_FETCH__TIMEOUT": "3"}), r"Unknown setting in HEADWATER_FETCH__TIMEOUT"),
        (Given(flags={"fetch.total_timeout": "soon"}), r"should be a duration such as 30s"),
        (Given(document={"rate_limit_per_second": 0}), r"should be above 0 requests per second"),
        (Given(document={"rate_limit_per_second": "inf"}), r"should be above 0 requests per second"),
        (Given(document={"rate_limit_per_second": "nan"}), r"should be above 0 requests per second"),
        (Given(environment={"AIDJOBS_DISABLE_SCHEDULER": "perhaps"}), r"should be true or false"),
        (Given(document={"poll": {"tick": True}}), r"not true or false"),
    ],
)
def test_a_wrong_setting_is_one_clear_sentence(given: Given, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        load(given)


def test_a_typing_error_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(SettingError) as caught:
        load(Given(environment={"HEADWATER_FETCH__CONCURENCY": "3"}))
    assert caught.value.fix == "Did you mean HEADWATER_FETCH__CONCURRENCY?"


def test_the_value_of_a_wrong_secret_is_not_repeated() -> None:
    with pytest.raises(SettingError) as caught:
        load(Given(document={"database": {"url": ["hunter2"]}}))
    assert "hunter2" not in caught.value.what


def test_an_empty_variable_means_not_set() -> None:
    assert load(Given(environment={"HEADWATER_DATABASE__URL": ""})).settings.database.url is None


def test_every_setting_is_described() -> None:
    for setting in every_setting():
        assert setting.field.description, setting.path
        assert setting.group.__doc__, setting.group


@given(st.integers(0, 10**9))
def test_durations_read_back_as_written(milliseconds: int) -> None:
    wait = timedelta(milliseconds=milliseconds)
    assert parse_duration(format_duration(wait)) == wait


@pytest.mark.parametrize("text", ["", "5x", "m", "-3", "1h-2m", "nan", "inf", "1e99", "٣s ٤"])
def test_a_bad_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="should be a duration"):
        parse_duration(text)


@pytest.mark.parametrize(("text", "days"), [("1y", 365), ("6mo", 180), ("8w", 56), ("90d", 90), (" 2Y ", 730)])
def test_a_length_of_time_has_weeks_months_and_years(text: str, days: int) -> None:
    assert parse_span(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["long", "-1y", "1.5y", "y", ""])
def test_what_is_no_length_of_time_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="such as 1y"):
        parse_span(text)


@pytest.mark.parametrize(
    ("written", "days"),
    [("400", 400), (400, 400), ("400d", 400), (" 8W ", 56), ("2y", 730), ("Forever", "forever"), ("48h", 2)],
)
def test_days_are_numbers_lengths_of_time_or_forever(written: object, days: object) -> None:
    assert load(Given(document={"keep": {"document_days": written}})).settings.keep.document_days == days


@pytest.mark.parametrize(
    "written", ["0", "-1", "1.5", "30h", "soon", "3651", "9999999999999999999y", True, 2.5, "nan", "inf"]
)
def test_days_that_make_no_sense_are_refused_with_a_sentence(written: object) -> None:
    with pytest.raises(SettingError) as refused:
        load(Given(document={"keep": {"version_days": written}}))
    said = str(refused.value)
    assert "keep.version_days" in said
    assert "should be a number of days such as 400, 400d, 8w or 2y, from 1 to 3650, or forever" in said
    assert said.count("should be") == 1
