"""Editions: which answer a change was made from."""

from datetime import timedelta
from uuid import UUID

import pytest

from headwater.editions import edition_of, require_known
from headwater.errors import Outdated
from headwater.serve.editions import edition_in, editions_in
from headwater.serve.etags import etag_of


def test_the_same_settings_have_the_same_edition_in_any_order() -> None:
    assert edition_of({"a": 1, "b": (2, 3)}) == edition_of({"b": [2, 3], "a": 1})
    assert edition_of({"a": 1}) != edition_of({"a": 2})
    assert edition_of([timedelta(minutes=1), UUID(int=1)])


def test_the_tag_of_an_answer_names_its_edition() -> None:
    tag = etag_of(b"{}", "abc")
    assert editions_in(tag) == {"abc"}
    assert edition_in({"etag": tag}) == "abc"
    assert editions_in(f'"x", {tag}') == {"x", "abc"}
    assert editions_in("bare") == {"bare"}
    assert editions_in(" * ") is None
    assert editions_in("") == frozenset()
    assert edition_in({}) == ""


def test_a_save_over_another_edition_is_refused() -> None:
    require_known(None, 1, "Boats")
    require_known({edition_of(1), "other"}, 1, "Boats")
    with pytest.raises(Outdated, match="Boats was changed since it was read: by Ada") as refused:
        require_known({edition_of(2)}, 1, "Boats", "by Ada.")
    assert refused.value.fix
    with pytest.raises(Outdated):
        require_known(frozenset(), 1, "Boats")
