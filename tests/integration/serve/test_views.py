"""Views through the API, as `headwater views` shows them."""

from tests.integration.serve.callers import ApiCaller


async def test_a_view_is_added_listed_changed_and_removed(api: ApiCaller) -> None:
    added = await api.post("views", {"name": "boats", "query": "ferry or harbour", "languages": ["en"]})
    assert added.status == 201
    assert added.json["query"] == "ferry or harbour"
    assert (await api.get("views")).json == {"views": [added.json]}
    changed = await api.patch("views/boats", {"languages": []})
    assert changed.json == added.json | {"languages": [], "edition": changed.json["edition"]}
    assert changed.json["edition"] != added.json["edition"]
    assert (await api.get("views/boats/preview")).json["records"] == []
    removed = await api.delete("views/boats")
    assert (removed.status, removed.body) == (204, b"")
    assert (await api.get("views/boats")).status == 404


async def test_a_name_that_stands_for_a_view_already_is_refused_with_the_way_on(api: ApiCaller) -> None:
    await api.post("views", {"name": "boats"})
    again = await api.post("views", {"name": "boats"})
    assert again.status == 422
    assert again.headers["content-type"] == "application/problem+json"
    assert again.json["detail"] == "There is a view 'boats' already."
    assert again.json["fix"]
    assert again.json["error"] == {"code": "invalid", "message": again.json["detail"]}
    assert again.json["request_id"] == again.headers["x-request-id"]


async def test_fields_that_are_not_understood_are_named(api: ApiCaller) -> None:
    answer = await api.post("views", {"name": "boats", "min_quality": 200, "colour": "red"})
    assert answer.status == 422
    assert {one["field"] for one in answer.json["fields"]} == {"body.min_quality", "body.colour"}
