import pytest

from headwater.database.pool import require_supported
from headwater.errors import DatabaseDown


def test_a_server_that_is_too_old_is_refused_with_the_remedy() -> None:
    with pytest.raises(DatabaseDown, match=r"db is PostgreSQL 14, and Headwater needs 15") as caught:
        require_supported(14, "db")
    assert "Upgrade" in caught.value.fix


def test_the_oldest_supported_server_is_welcome() -> None:
    require_supported(15, "db")
