"""What requests count about themselves: connections, conditions, and the time that politeness kept them waiting."""

from tests.integration.fetch.conftest import Path

from headwater.fetch.outcomes import Answered


def counted(path: Path, of: str) -> dict[str, int]:
    counts = path.services.figures.counts
    return {name.removeprefix(f"{of}."): count for name, count in counts.items() if name.startswith(f"{of}.")}


async def test_a_second_request_to_a_host_waits_and_finds_its_connection(path: Path) -> None:
    await path.fetch("http://a.test/one")
    first = counted(path, "politeness_wait")
    await path.fetch("http://a.test/two")
    waits = counted(path, "politeness_wait")
    # Two pages and the robots.txt before the first of them: the delay is 50 ms.
    assert sum(waits.values()) == sum(first.values()) + 1 == 3
    assert waits.get("100", 0) + waits.get("300", 0) >= 1
    assert path.services.figures.counts["politeness_wait_ms"] >= 40
    assert sum(counted(path, "connections").values()) == 3
    assert counted(path, "connections")["new"] >= 1
    assert counted(path, "conditional") == {}


async def test_a_conditional_request_is_counted_by_its_answer(path: Path) -> None:
    answered = await path.fetch("http://a.test/one")
    assert isinstance(answered, Answered)
    etag = answered.response.headers["ETag"]
    await path.fetch("http://a.test/one", etag=etag)
    await path.fetch("http://a.test/one", etag='"another"')
    assert counted(path, "conditional") == {"not_modified": 1, "sent": 1}
