import pytest

from tests.papers.made_up import all_tables


@pytest.fixture(scope="session")
def made():
    return all_tables()


@pytest.fixture
def tables(made):
    """A table for each study, every claim in good order, to be spoilt."""
    return {name: table.copy() for name, table in made.items()}
