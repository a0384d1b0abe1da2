"""The dashboard and the rules for alerts ask for what is told, in words that Prometheus knows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from headwater.metrics import METRICS, Metric

ROOT = Path(__file__).parents[2]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/headwater.json").read_text("utf-8"))
ALERTS: dict[str, Any] = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text("utf-8"))
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
ASKED = [target["expr"] for panel in PANELS for target in panel.get("targets", ())]
EXPRESSIONS = [*ASKED, *(rule["expr"] for rule in RULES)]

FUNCTIONS = {"rate", "increase", "histogram_quantile", "clamp_min", "absent", "sum", "max", "min", "count", "avg"}
WORDS = {"by", "and", "or", "unless", "without"}
TEXT = re.compile(r'"[^"]*"')
SELECTOR = re.compile(r"(headwater_\w+)(?:\{([^}]*)\})?(\[[^\]]+\])?")
MATCHER = re.compile(r'\s*(\w+)\s*(=~|!~|!=|=)\s*"[^"]*"\s*')
GROUPING = re.compile(r"\b(?:by|without) \(([^)]*)\)")
ROWS = ["Freshness", "Throughput", "Errors", "Politeness", "Frontier", "Sinks", "Processes"]


def series_of(metric: Metric) -> set[str]:
    ends = ("_bucket", "_sum", "_count") if metric.kind == "histogram" else ("",)
    return {f"{metric.name}{end}" for end in ends}


BY_SERIES = {name: metric for metric in METRICS for name in series_of(metric)}


def labels_of(series: str) -> set[str]:
    """Those of the metric, those that Prometheus adds, and the bound of a bucket."""
    bound = {"le"} if series.endswith("_bucket") else set()
    return {*BY_SERIES[series].labels, "job", "instance", *bound}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_well_formed_and_asks_for_what_is_told(expression: str) -> None:
    bare = TEXT.sub('""', expression)
    for opening, closing in ("()", "{}", "[]"):
        assert bare.count(opening) == bare.count(closing)
    called = set(re.findall(r"\b([a-z_]+)\s*\(", bare)) - WORDS
    assert called <= FUNCTIONS
    selectors = SELECTOR.findall(expression)
    assert selectors
    for name, matchers, window in selectors:
        assert name in BY_SERIES, name
        for one in filter(None, matchers.split(", ")):
            matched = MATCHER.fullmatch(one)
            assert matched, one
            assert matched[1] in labels_of(name), one
        is_counted = BY_SERIES[name].kind != "gauge"
        assert bool(window) == is_counted, f"{name}: a counter is asked over a time, a gauge is not"
    known = set().union(*(labels_of(name) for name, _, _ in selectors))
    for group in GROUPING.findall(expression):
        assert {one.strip() for one in group.split(",")} <= known, group


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_replicas_that_tell_the_same_are_never_summed(expression: str) -> None:
    """`sum` stands around `max by` all labels, or not at all."""
    for rest in re.split(r"\bsum(?: by \([^)]*\))? \(|\bsum\(", expression)[1:]:
        assert rest.startswith("max by ("), expression


def test_the_dashboard_shows_every_metric() -> None:
    shown = {BY_SERIES[name].name for expression in ASKED for name, _, _ in SELECTOR.findall(expression)}
    assert {metric.name for metric in METRICS} - shown == set()


def test_panels_have_ids_of_their_own_rows_and_the_data_source_that_is_chosen() -> None:
    ids = [panel["id"] for panel in PANELS]
    assert len(ids) == len(set(ids))
    assert [panel["title"] for panel in PANELS if panel["type"] == "row"] == ROWS
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    sources = [panel["datasource"] for panel in PANELS if panel["type"] != "row"]
    assert {source["uid"] for source in sources} == {"${datasource}"}
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_is_wrong_and_where_to_read_on(rule: dict[str, Any]) -> None:
    assert set(rule["annotations"]) == {"summary", "description", "runbook"}
    assert rule["labels"]["severity"] in {"critical", "warning"}
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert anchor == rule["alert"].lower()
    assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_alerts_have_names_of_their_own() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))
