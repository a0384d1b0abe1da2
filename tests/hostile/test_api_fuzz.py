"""Requests that a machine makes up from the API's own description, as every role: no fault, nothing undescribed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CheckFunction, load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance
from tests.integration.serve.callers import ApiCaller, api_on
from tests.integration.serve.people import add_user, token_of

from headwater.accounts.role import Role
from headwater.database.pool import Database

pytestmark = pytest.mark.long

# These ask the web, or wait for news: what they are asked with is tried elsewhere, one by one.
ASKS_THE_WEB = {
    *("fetch_metadata", "test_crawl", "test_source", "simulate_source", "older_test_source", "older_simulate"),
    *("run_due", "older_run_due", "import_sources", "add_sink", "test_sink", "verify_sink"),
}
WAITS = {"stream", "list_changes", "log_in", "log_out", "mcp"}
EXAMPLES = 12


@pytest.fixture
async def api(database_url: str, database: Database) -> AsyncIterator[ApiCaller]:
    async with api_on(database_url) as caller:
        await add_user(database)
        yield caller


@pytest.mark.parametrize("role", [*Role, None], ids=lambda role: str(role or "nobody"))
async def test_no_request_that_a_machine_makes_up_breaks_the_api(
    api: ApiCaller, database: Database, role: Role | None
) -> None:
    headers = {"Authorization": f"Bearer {await token_of(database, role)}"} if role else {}
    admin = await token_of(database, Role.ADMIN, "reader")
    described = (await api.get("openapi.json", authorization=f"Bearer {admin}")).json
    answers = await asyncio.to_thread(ask_everything, described, api.address, headers)
    assert len(answers) > 90
    if role is None:
        assert {status for counts in answers.values() for status in counts} <= {401, 404, 405, 413, 422}
    else:
        assert any(status < 300 for counts in answers.values() for status in counts)


def ask_everything(described: dict[str, Any], address: str, headers: dict[str, str]) -> dict[str, Counter[int]]:
    """In a thread: schemathesis waits for each answer. Statuses of each operation; raises for what must not be."""
    load_all_checks()
    checks: list[CheckFunction] = [not_a_server_error, status_code_conformance, content_type_conformance]
    schema = schemathesis.openapi.from_dict(described)
    answers, broken = dict[str, Counter[int]](), list[str]()
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        name = operation.definition.raw["operationId"]
        if name in ASKS_THE_WEB | WAITS:
            continue
        answers[name] = Counter()
        try:
            made_up(operation, answers[name], address, headers, checks)()
        except Exception as error:  # noqa: BLE001 - told with those of the other operations
            broken.append(f"{name}: {error}")
    assert not broken, "\n\n".join(broken)
    return answers


def made_up(
    operation: Any, counts: Counter[int], address: str, headers: dict[str, str], checks: list[CheckFunction]
) -> Callable[[], None]:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        answer = case.call(base_url=address, headers=headers, timeout=30)
        counts[answer.status_code] += 1
        case.validate_response(answer, checks=checks)

    return ask
