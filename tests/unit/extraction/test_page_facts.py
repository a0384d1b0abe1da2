"""The lead image, who may read a page, and pages that show more than they tell."""

import pytest
from tests.unit.extraction.conftest import PROSE, Read

from headwater.extraction.access import Access, DeclaredAccess
from headwater.extraction.article import Article
from headwater.extraction.lead_image import LeadImage
from headwater.extraction.page_type import PageType
from headwater.ingest.page_reader import metadata_of

FIGURE = """<figure><img src="/small/quay.jpg?w=300"><figcaption>The quay after the storm
    <span class="figure__credit">Photo: Bo Ek</span></figcaption></figure>"""
CALL = "<p>Subscribe now to continue reading this story.</p>"


def linked(fields: str) -> str:
    return f'<script type="application/ld+json">{{"@type":"NewsArticle",{fields}}}</script>'


def article(found: object) -> Article:
    assert isinstance(found, Article)
    return found


def test_the_lead_image_comes_with_size_caption_and_credit(read: Read) -> None:
    head = """<meta property="og:image" content="/large/quay.jpg"><meta property="og:image:width" content="1200">
        <meta property="og:image:height" content="800">"""
    found = article(read(head, FIGURE + PROSE)).lead_image
    assert found == LeadImage(
        url="https://www.example.com/large/quay.jpg",
        width=1200,
        height=800,
        caption="The quay after the storm",
        credit="Photo: Bo Ek",
    )
    assert article(read("", FIGURE + PROSE)).lead_image is None


def test_the_pictures_of_the_text_follow_those_declared_in_their_order(read: Read) -> None:
    head = '<meta property="og:image" content="/lead.jpg">'
    shown = "".join(f'<figure><img src="/{name}.jpg"><figcaption>A quay</figcaption></figure>' for name in "abcab")
    found = article(read(head, f"<article><p>{PROSE}</p>{shown}{PROSE}</article>")).images
    assert found == tuple(f"https://www.example.com/{name}.jpg" for name in ("lead", "a", "b", "c"))
    many = "".join(f'<figure><img src="/{at}.jpg"></figure>' for at in range(200))
    assert len(article(read(head, f"<article>{PROSE}{many}{PROSE}</article>")).images) <= 50


def test_what_linked_data_says_of_the_image_comes_first(read: Read) -> None:
    image = """"image":[{"url":"/large/quay.jpg","width":640,"height":"480","caption":"The quay","creditText":"Cy"}]"""
    found = article(read(linked(image), FIGURE + PROSE)).lead_image
    assert found == LeadImage(
        url="https://www.example.com/large/quay.jpg", width=640, height=480, caption="The quay", credit="Cy"
    )


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("", PROSE, Access()),
        ("", PROSE + CALL, Access(ends_at_wall=True)),
        (linked('"isAccessibleForFree":true'), PROSE, Access(declared=DeclaredAccess.FREE)),
        (linked('"isAccessibleForFree":"False"'), PROSE, Access(declared=DeclaredAccess.SOLD)),
        (linked('"isAccessibleForFree":false'), PROSE + CALL, Access(declared=DeclaredAccess.SOLD, ends_at_wall=True)),
        (
            linked('"isAccessibleForFree":false,"wordCount":2000'),
            PROSE,
            Access(declared=DeclaredAccess.SOLD, ends_at_wall=True),
        ),
        (linked('"isAccessibleForFree":true'), PROSE + CALL, Access(declared=DeclaredAccess.FREE, ends_at_wall=True)),
        (
            "<meta property='article:content_tier' content=Metered>",
            PROSE,
            Access(declared=DeclaredAccess.SOLD, tier="metered"),
        ),
    ],
)
def test_declared_and_seen_access_are_kept_apart(read: Read, head: str, body: str, expected: Access) -> None:
    assert article(read(head, f"<article>{body}</article>")).access == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<script type="application/ld+json">{"@type":"VideoObject","name":"Storm"}</script>', PageType.VIDEO),
        ("<meta property='og:type' content='video.other'>", PageType.VIDEO),
        ('<script type="application/ld+json">{"@type":"ImageGallery","name":"Storm"}</script>', PageType.GALLERY),
        (linked('"video":{"@type":"VideoObject"}'), PageType.ARTICLE),
    ],
)
def test_a_page_that_shows_a_film_or_pictures_is_told_apart(read: Read, head: str, expected: PageType) -> None:
    assert article(read(head)).page_type is expected


def test_the_archive_keeps_them_with_what_has_no_field_of_its_own(read: Read) -> None:
    head = linked('"isAccessibleForFree":false,"image":{"url":"/quay.jpg","caption":"A\\u0000B"}')
    kept = metadata_of(article(read(head, f"<article>{PROSE}{CALL}</article>")))
    assert kept["access"] == {"declared": "sold", "ends_at_wall": True}
    assert kept["lead_image"] == {"url": "https://www.example.com/quay.jpg", "caption": "AB"}
    assert kept["json_ld_data"]["jsonld_raw"]["isAccessibleForFree"] is False


def test_hostile_images_and_captions_are_bounded(read: Read) -> None:
    figures = "<figure><img src=/quay.jpg><figcaption>" + "x " * 50_000 + "</figcaption></figure>"
    image = '"image":{"url":"/quay.jpg","width":1e99,"height":-4,"caption":["a"],"creator":{"name":{"a":1}}}'
    found = article(read(linked(image), figures * 20 + PROSE)).lead_image
    assert found is not None
    assert (found.width, found.height, found.credit) == (None, None, "")
    assert len(found.caption) <= 1_000
    for odd in ("[]", "7", "null", '[[["a"]]]', '"javascript:alert(1)"', "{}"):
        assert article(read(linked(f'"image":{odd}'))).lead_image is None
