"""Health and figures, as machines ask for them."""

from prometheus_client.parser import text_string_to_metric_families
from tests.integration.serve.callers import ApiCaller


async def test_health_names_its_parts_and_what_to_do(api: ApiCaller) -> None:
    answer = await api.get("/readyz")
    assert answer.status == 200
    assert answer.json["state"] in ("ok", "degraded")
    assert {"name", "state", "why", "since", "fix"} == set(answer.json["parts"][0])


async def test_a_schema_of_another_version_is_down(api: ApiCaller) -> None:
    await api.services.database.execute("alter table health_marks rename to elsewhere")
    answer = await api.get("/readyz")
    assert (answer.status, answer.json["state"]) == (503, "down")
    assert answer.json["parts"][0]["fix"] == "Run: headwater db migrate"
    assert (await api.get("/healthz")).status == 200


async def test_figures_are_read_by_prometheus(api: ApiCaller) -> None:
    answer = await api.get("/metrics")
    assert answer.status == 200
    names = {family.name for family in text_string_to_metric_families(answer.body.decode())}
    assert {"headwater_build_info", "headwater_frontier_urls", "headwater_sources"} <= names
