import doctest
import importlib
import pkgutil

import pytest

import semisift

MODULES = ["semisift"] + [
    module.name for module in pkgutil.walk_packages(semisift.__path__, "semisift.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(
        importlib.import_module(name),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert failed == 0
