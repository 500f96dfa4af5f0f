import pytest

from tests.papers.made_up import all_tables


@pytest.fixture
def tables():
    """A table for each study, every claim in good order."""
    return all_tables()
