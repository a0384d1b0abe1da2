"""What tests of faults share."""

import os

import pytest

from headwater.chance import Random, random_from


@pytest.fixture
def drawn() -> Random:
    """Chance that differs from run to run, and is told, so that SEED repeats it."""
    seed = int(os.environ.get("SEED") or random_from().randrange(1_000_000))
    print(f"seed {seed}")
    return random_from(seed)
