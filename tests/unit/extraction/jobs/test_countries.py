import pytest

from headwater.extraction.jobs.countries import city_in, country_called, country_in, name_of, place_in


@pytest.mark.parametrize(
    ("place", "iso"),
    [
        ("Niamey, Niger", "NE"),
        ("Abuja, Nigeria", "NG"),
        ("NIGERIA", "NG"),
        ("Conakry, Guinea", "GN"),
        ("Bissau, Guinea-Bissau", "GW"),
        ("Malabo, Equatorial Guinea", "GQ"),
        ("Port Moresby, Papua New Guinea", "PG"),
        ("Juba, South Sudan", "SS"),
        ("Khartoum, Sudan", "SD"),
        ("Roseau, Dominica", "DM"),
        ("Santo Domingo, Dominican Republic", "DO"),
        ("Belfast, Northern Ireland", "GB"),
        ("Kinshasa, Democratic Republic of the Congo", "CD"),
        ("Goma (DRC)", "CD"),
        ("Abidjan, Côte d’Ivoire", "CI"),
        ("Cote d'Ivoire", "CI"),
        ("Pristina, Kosovo", "XK"),
        ("Dschuba, Südsudan", "SS"),
        ("N’Djaména, Tchad", "TD"),
        ("Москва, Россия", "RU"),
        ("بيروت، لبنان", "LB"),
        ("Nairobi, KE", "KE"),
        ("Home-based (UK)", "GB"),
        ("Washington, DC", "US"),
        ("Austin, TX", "US"),
        ("Newark, New Jersey", "US"),
        ("Albuquerque, New Mexico", "US"),
        ("Nairobi", "KE"),
    ],
)
def test_a_place_is_in_its_country(place: str, iso: str) -> None:
    assert country_in(place) == iso


@pytest.mark.parametrize(
    ("place", "iso"),
    [
        ("Georgia", "GE"),
        ("Tbilisi, Georgia", "GE"),
        ("Atlanta, Georgia", "US"),
        ("Georgia, USA", "US"),
        ("Atlanta, GA", "US"),
        ("Libreville, GA", "GA"),
        ("Kinshasa, Congo", "CD"),
        ("Brazzaville, Congo", "CG"),
        ("Seoul, Korea", "KR"),
        ("Berlin, DE", "DE"),
        ("Paris, Texas", "US"),
    ],
)
def test_a_town_or_a_state_settles_a_shared_name(place: str, iso: str) -> None:
    assert country_in(place) == iso


@pytest.mark.parametrize(
    "place",
    [
        "",
        "Congo",
        "Korea",
        "Wilmington, DE",
        "Lebanon, Pennsylvania",
        "Kenya, Uganda",
        "Gulf of Guinea",
        "Remote",
        "it",
    ],
)
def test_an_unclear_place_has_no_country(place: str) -> None:
    assert country_in(place) is None


def test_a_country_field_may_hold_a_name_or_a_code() -> None:
    assert [country_called(said) for said in ("ke", "KEN", "Kenia", "UK", "Georgia")] == ["KE", "KE", "KE", "GB", "GE"]
    assert country_called("Nairobi, Kenya") is None
    assert country_called("Congo") is None


def test_countries_are_called_what_people_call_them() -> None:
    assert [name_of(iso) for iso in ("TZ", "CD", "KE", "ZZ")] == [
        "Tanzania",
        "Democratic Republic of the Congo",
        "Kenya",
        "",
    ]


def test_a_city_is_told_from_a_country_and_from_everywhere() -> None:
    assert city_in("Nairobi, Kenya") == "Nairobi"
    assert city_in("Atlanta, GA") == "Atlanta"
    assert city_in("Beirut") == "Beirut"
    assert [city_in(place) for place in ("Kenya", "Remote, Kenya", "Georgia, USA", "Nairobi; Kampala")] == [None] * 4


@pytest.mark.parametrize(
    ("place", "city"),
    [
        ("Hybrid - Geneva, Switzerland", "Geneva"),
        ("Hybrid (Geneva, Switzerland)", "Geneva"),
        ("Remote, Nakuru, Kenya", "Nakuru"),
        ("New York, USA", "New York"),
        ("New York, NY", "New York"),
        ("Masaka – Uganda", "Masaka"),
        ("California, USA", None),
        ("Remote - Kenya", None),
        ("Home-based - Kenya", None),
        ("Kenya - Uganda", None),
    ],
)
def test_a_city_stands_behind_how_one_works_or_before_a_dash(place: str, city: str | None) -> None:
    assert city_in(place) == city


def test_a_place_is_found_among_other_sentences() -> None:
    assert place_in("Nairobi, Kenya. Closing date 2026-09-14.") == "Nairobi, Kenya"
    assert place_in("Full time – Guinea-Bissau | 3 days left") == "Guinea-Bissau"
    assert place_in("We have worked for many years with partners in the north of Kenya") == ""
