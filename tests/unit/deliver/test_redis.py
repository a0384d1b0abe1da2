from typing import Any

import pytest
from pydantic import ValidationError
from tests.integration.deliver.made import fence, made_record, sink_context

from headwater.deliver.kinds import kind_named
from headwater.deliver.sink import SinkDown
from headwater.deliver.sinks import redis
from headwater.deliver.sinks.redis import KIND, RedisOptions, parse_template, slug
from headwater.errors import SettingError
from headwater.record_kind import RecordKind


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("content:{kind}", "content:job"),
        ("jobs:type:{contract_type}", "jobs:type:full_time"),
        ("jobs:{mission_tags}:{country_iso}", "jobs:wash:ke"),
        ("all", "all"),
        ("by:{source_name}", "by:the-daily-test"),
        ("{{odd}}:{city}", "{odd}:unknown"),
    ],
)
def test_a_name_is_made_of_fields(template: str, name: str) -> None:
    assert parse_template(template).name_of(made_record("driver", RecordKind.JOB).fields) == name


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "unknown"),
        ("", "unknown"),
        (" ", "unknown"),
        ([], "unknown"),
        ([None], "unknown"),
        (["Health", "wash"], "health"),
        (True, "true"),
        ("Côte d’Ivoire", "côte-d-ivoire"),
        ("a:b\nc", "a-b-c"),
        ("x" * 1_000, "x" * 100),
    ],
)
def test_a_value_becomes_part_of_a_name(value: Any, written: str) -> None:
    assert slug(value) == written


@pytest.mark.parametrize("template", ["", "a{", "a{}", "a{0}", "{text}", "{kind.x}", "{kind!r}", "{kind:>3}", "{none}"])
def test_a_template_is_checked_when_the_sink_is_added(template: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        RedisOptions(url="redis://localhost", name=template)


def test_patterns_of_names_are_redis_patterns() -> None:
    assert parse_template("a*[{kind}]:{city}").pattern == r"a\*\[*\]:*"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis://:secret@localhost", "holds a password"),
        ("redis://localhost?password=secret", "holds a password"),
        ("http://localhost", "should be an address"),
        ("localhost:6379", "should be an address"),
        ("unix://", "should be an address"),
    ],
)
def test_an_address_is_checked_when_the_sink_is_added(url: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        RedisOptions(url=url)


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]", "[::ffff:a9fe:a9fe]"]
)
async def test_metadata_of_a_cloud_is_never_asked(host: str) -> None:
    async with sink_context() as context:
        sink = KIND.make(RedisOptions(url=f"redis://{host}:6379"), context)
        with pytest.raises(SinkDown, match="never asked"):
            await sink.prepare(fence())
        await sink.close()


async def test_a_secret_that_is_no_address_is_told_by_its_name() -> None:
    async with sink_context({"env:REDIS": "hunter2"}) as context:
        with pytest.raises(SettingError) as caught:
            KIND.make(RedisOptions(url="env:REDIS"), context)
    assert "env:REDIS" in caught.value.what
    assert "hunter2" not in caught.value.what


async def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "find_spec", lambda name: None)
    async with sink_context() as context:
        with pytest.raises(SettingError) as caught:
            KIND.make(RedisOptions(url="redis://localhost"), context)
    assert "headwater[redis]" in caught.value.fix


def test_it_is_found_by_its_type() -> None:
    assert kind_named("redis") is KIND
