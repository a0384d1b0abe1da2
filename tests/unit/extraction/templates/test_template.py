import orjson
from tests.unit.extraction.templates.conftest import NOTICE, Story, changed, prose

from headwater.extraction.templates.explain import explain
from headwater.extraction.templates.server import TemplateRefusalReason, serve
from headwater.extraction.templates.template import (
    MOST_DOUBTED,
    MOST_REPEATED,
    Template,
    template_from,
    template_to_json,
)


def test_a_template_survives_being_written_down(template: Template, story: Story) -> None:
    again = template_from(orjson.loads(orjson.dumps(template_to_json(template))))
    assert again == template
    assert again is not None
    assert serve(template, story.html) == serve(again, story.html)


def test_a_template_is_small(template: Template) -> None:
    assert len(orjson.dumps(template_to_json(template))) < 2_000


def test_another_form_is_learned_again(template: Template) -> None:
    assert template_from(template_to_json(template) | {"form": 0}) is None
    assert template_from({}) is None


def test_what_it_remembers_is_bounded(template: Template) -> None:
    for page in range(200):
        template = template.after(page, [page * 10 + at for at in range(10)])
        template = template.after(page + 500, [page * 10, *range(page * 10 + 5_000, page * 10 + 5_100)])
    assert MOST_DOUBTED - 30 <= sum(map(len, template.doubted)) <= MOST_DOUBTED
    assert len(template.repeated) <= MOST_REPEATED


def test_a_page_audited_again_is_one_page(template: Template) -> None:
    for page in [*range(12), *range(12)]:
        template = template.after(page, range(page * 100, page * 100 + 5))
    assert not template.repeated


def test_what_only_the_template_kept_on_two_pages_is_the_hosts(template: Template) -> None:
    assert template.after(1, [5, 99]).after(2, [6, 99]).repeated == (99,)
    assert template.after(1, []) is template


def test_numbers_that_are_no_hashes_are_not_remembered(template: Template) -> None:
    assert template.after(1, [-1, 1 << 40, 1 << 900]) is template


def test_every_block_is_explained(template: Template, story: Story) -> None:
    found = explain(template, story.html)
    assert found.against is None
    (tried,) = found.tried
    assert (tried.selector, tried.against) == ("div.story-body", None)
    said = {piece.text: piece for piece in tried.pieces}
    first, notice = said[prose(7)[0][:80]], said[NOTICE[:80]]
    assert (first.kept, first.why) == (True, "this path was kept in training")
    assert (notice.kept, notice.why) == (False, "no text of a story ever stood below this element")
    assert any(piece.why == "outside the container" for piece in tried.pieces)


def test_a_refusal_is_explained(template: Template, story: Story) -> None:
    found = explain(template, changed(story, og_type="website", published="").html)
    assert found.against is TemplateRefusalReason.FEATURE_MISSING
    assert found.missing == ("og:article", "published")
    assert explain(template, changed(story, container="x").html).against is TemplateRefusalReason.NO_CONTAINER


def test_explaining_and_serving_agree(template: Template, story: Story) -> None:
    for page in (story, changed(story, paragraphs=("Short.",)), changed(story, container="x"), Story(number=8)):
        assert (explain(template, page.html).against is None) == hasattr(serve(template, page.html), "paragraphs")
