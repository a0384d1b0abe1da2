import pytest

from headwater.database.translate import mask_dsn


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://ann:s3cret@db:5432/news", "postgresql://ann:***@db:5432/news"),
        ("postgresql://ann@db/news", "postgresql://ann@db/news"),
        ("postgresql://db/news", "postgresql://db/news"),
        ("postgresql://:s3cret@db/news", "postgresql://:***@db/news"),
        ("postgresql://ann:s3cret@a,b:5433/news", "postgresql://ann:***@a,b:5433/news"),
        ("postgresql://ann@/news?host=%2Ftmp&port=5432", "postgresql://ann@/news?host=%2Ftmp&port=5432"),
        ("postgresql://ann@db/news?password=s3cret&x=1", "postgresql://ann@db/news?password=***&x=1"),
        ("postgresql://ann@db/news?sslpassword=s3cret", "postgresql://ann@db/news?sslpassword=***"),
        ("host=db password=s3cret", "host=db password=***"),
        ("host=db password='s3 cret' dbname=news", "host=db password=*** dbname=news"),
    ],
)
def test_an_address_is_shown_without_its_password(dsn: str, shown: str) -> None:
    assert mask_dsn(dsn) == shown


@pytest.mark.parametrize("password", ["s3cret@x", "s3cret/x", "s3cret?x", "s3cret:x", "s3cret#x", "s3cret x"])
def test_a_password_that_should_have_been_escaped_is_hidden_too(password: str) -> None:
    for dsn in (f"postgresql://ann:{password}@db/news", f"postgresql://ann@db/news?PASSWORD={password}"):
        assert "s3cret" not in mask_dsn(dsn)
        assert not mask_dsn(dsn).endswith("x")
