"""What a page calls canonical is a claim: believed where the named page bears it out, and never of use against it."""

import pytest
from tests.integration.archive.shelf import LONG, OTHER, SHORT, Shelf, everything, key_of

from headwater.archive.documents import Duplicate, Stored, UnchangedDocument
from headwater.archive.reads import read_document

AMP, STORY, PRINT = "https://amp.a.example/1", "https://a.example/1", "https://a.example/print/1"
COPY = "https://b.example/2"
NEARLY = f"{LONG} and so on"
LIKE, NEARLY_LIKE, UNLIKE = 0xF0F0_1234_5678_9ABC, 0xF0F0_1234_5678_9ABD, 0x0F0F_EDCB_A987_6543

both_forms = pytest.mark.parametrize(
    ("text", "simhash"), [(LONG, LIKE), (NEARLY, NEARLY_LIKE)], ids=["the same", "nearly the same"]
)


async def shown(shelf: Shelf, url: str) -> tuple[str, bool]:
    found = await read_document(shelf.database, key_of(url))
    assert found is not None
    return found.canonical_url, found.duplicate_of is None and found.deleted_at is None


async def test_a_claim_on_a_page_with_another_text_changes_nothing_but_its_own_document(shelf: Shelf) -> None:
    await shelf.keep(STORY)
    before = tuple(await shelf.row(STORY))
    assert await shelf.keep(PRINT, OTHER, claims=STORY) == Stored(1, is_new=True)
    assert tuple(await shelf.row(STORY)) == before
    assert await shown(shelf, PRINT) == (PRINT, True)


async def test_a_page_that_claims_another_one_withdraws_only_itself(shelf: Shelf) -> None:
    await shelf.keep(STORY)
    await shelf.keep(PRINT, OTHER, claims=STORY)
    await shelf.keep(AMP, LONG, claims=STORY)
    for url in (PRINT, AMP):
        await shelf.database.execute("SELECT withdraw_page($1, $2, 'noindex', $3)", *key_of(url), shelf.now)
    assert await shown(shelf, STORY) == (STORY, True)
    assert await shelf.told() == [(STORY, 1, "upsert"), (PRINT, 1, "upsert"), (PRINT, 2, "delete")]


@both_forms
async def test_a_claim_is_believed_when_the_named_page_says_the_same(shelf: Shelf, text: str, simhash: int) -> None:
    await shelf.keep(STORY, simhash=LIKE)
    assert await shelf.keep(AMP, text, claims=STORY, simhash=simhash) == Duplicate(1, key_of(STORY))
    assert await shown(shelf, AMP) == (STORY, False)
    assert await shelf.told() == [(STORY, 1, "upsert")]
    assert await shelf.keep(AMP, text, claims=STORY, simhash=simhash) == UnchangedDocument(1)


async def test_a_short_text_is_borne_out_only_by_the_same_one(shelf: Shelf) -> None:
    await shelf.keep(STORY, SHORT, simhash=LIKE)
    assert await shelf.keep(AMP, SHORT, claims=STORY, simhash=LIKE) == Duplicate(1, key_of(STORY))
    assert isinstance(await shelf.keep(PRINT, f"{SHORT}!", claims=STORY, simhash=LIKE), Stored)


@both_forms
async def test_a_named_page_that_comes_later_takes_its_place(shelf: Shelf, text: str, simhash: int) -> None:
    await shelf.keep(AMP, text, claims=STORY, simhash=simhash)
    await shelf.keep(COPY, text, simhash=simhash)
    assert isinstance(await shelf.keep(STORY, simhash=LIKE), Stored)
    assert await shown(shelf, AMP) == (STORY, False)
    assert (AMP, 2, "delete") in await shelf.told()


async def test_a_named_page_is_as_old_as_the_form_of_it_that_was_seen_first(shelf: Shelf) -> None:
    await shelf.keep(AMP, claims=STORY)
    shelf.wait(7200)
    await shelf.keep(COPY)
    shelf.wait(7200)
    assert await shelf.keep(STORY) == Stored(1, is_new=True)
    assert (await shelf.row(COPY))["duplicate_of"] == key_of(STORY).url_hash


async def test_a_form_that_was_seen_first_makes_its_page_older_when_it_says_so(shelf: Shelf) -> None:
    await shelf.keep(AMP)
    shelf.wait(7200)
    await shelf.keep(STORY)
    assert (await shelf.row(STORY))["duplicate_of"] == key_of(AMP).url_hash
    assert await shelf.keep(AMP, claims=STORY) == Duplicate(2, key_of(STORY))
    assert await shown(shelf, STORY) == (STORY, True)


async def test_a_page_that_its_older_form_names_comes_before_copies_of_that_form(shelf: Shelf) -> None:
    for url in (AMP, COPY, STORY):
        await shelf.keep(url)
        shelf.wait(7200)
    await shelf.keep(AMP, claims=STORY)
    assert await shown(shelf, STORY) == (STORY, True)


async def test_a_form_of_a_page_is_not_the_successor_of_a_copy(shelf: Shelf) -> None:
    await shelf.keep(COPY)
    for url, claims in ((AMP, STORY), (STORY, None)):
        shelf.wait(7200)
        await shelf.keep(url, claims=claims)
    await shelf.tombstone(COPY)
    assert await shown(shelf, STORY) == (STORY, True)
    assert await shown(shelf, AMP) == (STORY, False)


async def test_forms_part_when_their_texts_do(shelf: Shelf) -> None:
    await shelf.keep(STORY, simhash=LIKE)
    await shelf.keep(AMP, NEARLY, claims=STORY, simhash=NEARLY_LIKE)
    await shelf.keep(STORY, OTHER, simhash=UNLIKE)
    assert await shown(shelf, AMP) == (AMP, True)
    assert (await shelf.told())[-1] == (AMP, 2, "upsert")
    await shelf.keep(AMP, OTHER, claims=STORY, simhash=UNLIKE)
    assert await shown(shelf, AMP) == (STORY, False)


async def test_a_form_stands_for_itself_when_the_named_page_is_gone(shelf: Shelf) -> None:
    await shelf.keep(STORY, simhash=LIKE)
    await shelf.keep(AMP, NEARLY, claims=STORY, simhash=NEARLY_LIKE)
    await shelf.tombstone(STORY)
    assert await shown(shelf, AMP) == (AMP, True)
    await shelf.keep(STORY, simhash=LIKE)
    assert await shown(shelf, AMP) == (STORY, False)


async def test_pages_that_name_each_other_are_not_believed(shelf: Shelf) -> None:
    await shelf.keep(STORY, claims=AMP)
    assert await shelf.keep(AMP, claims=STORY) == Duplicate(1, key_of(STORY))
    assert await shown(shelf, STORY) == (STORY, True)
    assert await shown(shelf, AMP) == (AMP, False)


async def test_a_page_that_names_another_one_bears_nobody_out(shelf: Shelf) -> None:
    await shelf.keep(STORY, claims=PRINT, simhash=LIKE)
    assert isinstance(await shelf.keep(AMP, NEARLY, claims=STORY, simhash=NEARLY_LIKE), Stored)


async def test_pages_of_ones_own_that_name_a_copy_do_not_make_it_older(shelf: Shelf) -> None:
    await shelf.keep(STORY)
    shelf.wait(7200)
    await shelf.keep(COPY)
    await shelf.keep("https://b.example/other", claims=COPY)
    assert await shown(shelf, STORY) == (STORY, True)
    assert not (await shown(shelf, COPY))[1]


async def test_duplicates_of_a_form_that_leaves_have_an_successor(shelf: Shelf) -> None:
    await shelf.keep(AMP, NEARLY, claims=STORY, simhash=NEARLY_LIKE)
    await shelf.keep(COPY, NEARLY, simhash=NEARLY_LIKE)
    await shelf.keep(STORY, simhash=LIKE)
    assert await shown(shelf, AMP) == (STORY, False)
    assert await shown(shelf, COPY) == (COPY, True)


async def test_a_form_seen_again_writes_nothing(shelf: Shelf) -> None:
    await shelf.keep(STORY)
    await shelf.keep(AMP, claims=STORY)
    before = await everything(shelf.database)
    assert await shelf.keep(AMP, claims=STORY) == UnchangedDocument(1)
    assert await shelf.keep(STORY) == UnchangedDocument(1)
    assert await everything(shelf.database) == before


async def test_a_hundred_thousand_claims_on_one_page_cost_no_more_than_a_hundred(shelf: Shelf) -> None:
    for number in range(120):
        await shelf.keep(f"https://a.example/p{number}", f"{OTHER} {number}", claims=STORY, simhash=UNLIKE - number)
    read = "SELECT count(*) FROM claimants_of($1, $2)"
    assert await shelf.database.fetchval(read, *key_of(STORY)) == 100
    assert isinstance(await shelf.keep(STORY, simhash=LIKE), Stored)
