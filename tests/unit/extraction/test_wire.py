import orjson
import pytest
from tests.unit.extraction.conftest import NOW, PROSE, URL, Read

from headwater.errors import UsageError
from headwater.extraction.page import FeedHints, Page, Selectors, answer_from, encode_page, page_from

PAGE = Page(
    url=URL,
    body=b"<title>Storm</title>\n" + PROSE.encode() + b"\n\xff",
    codec="iso-8859-1",
    robots_headers=("noarchive",),
    timezone="Europe/Berlin",
    hints=FeedHints(title="T", published_at=NOW),
    selectors=Selectors(fields={"title": "h1"}, exclude=("nav",)),
)


def test_a_page_arrives_in_the_child_as_it_was_sent() -> None:
    assert page_from(encode_page(PAGE, NOW)) == (PAGE, NOW)


def test_an_answer_comes_back_as_it_was_given(read: Read) -> None:
    # Importing it loads the language model.
    from headwater.extraction.work import read_sent

    head = '<script type="application/ld+json">{"@type": "Article", "headline": "H"}</script>'
    for given in (read_sent(encode_page(PAGE, NOW)), read(head), read("", "<a href=/x>x</a>")):
        assert answer_from(orjson.loads(orjson.dumps(given))) == given


@pytest.mark.parametrize("value", [None, {}, {"reason": "too_short"}, [1], {"text": "x", "url": 5}])
def test_an_answer_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        answer_from(value)
