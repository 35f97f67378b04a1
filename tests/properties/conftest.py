"""How many tables the property tests try: few and always the same, or many on demand."""

import pytest

from tests.properties import profiles  # noqa: F401  (loads one)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder for files that each table writes anew."""
    return tmp_path_factory.mktemp("tables")
