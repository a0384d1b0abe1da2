from headwater.extraction.jobs.identity import canonical_hash

LISTING = "https://aid.test/careers"


def test_the_spellings_of_one_address_are_one_vacancy() -> None:
    spellings = ("https://aid.test/jobs/7", "http://AID.test/jobs/7/?utm_source=feed", "https://aid.test/jobs/7#apply")
    assert len({canonical_hash(url, "Officer", "Aid", "Nairobi", LISTING) for url in spellings}) == 1


def test_words_do_not_matter_where_the_address_is_its_own() -> None:
    url = "https://aid.test/jobs/7"
    assert canonical_hash(url, "Officer", "", "", LISTING) == canonical_hash(url, "Manager", "Aid", "Juba", LISTING)


def test_vacancies_behind_the_listing_itself_are_told_apart_by_words() -> None:
    first = canonical_hash(f"{LISTING}#one", "Officer", "Aid", "Nairobi", LISTING)
    assert first == canonical_hash(f"{LISTING}/#two", " OFFICER ", "aid", "nairobi", LISTING)
    assert first != canonical_hash(LISTING, "Officer", "Aid", "Juba", LISTING)
    assert first != canonical_hash(LISTING, "Manager", "Aid", "Nairobi", LISTING)


def test_equal_words_behind_the_lists_of_two_employers_are_two_vacancies() -> None:
    lists = ("https://aid.test/careers", "https://jobs.aid.test/", "https://other.test/careers")
    ours, ours_too, theirs = (canonical_hash(url, "Officer", "Aid", "Nairobi", url) for url in lists)
    assert ours == ours_too != theirs
