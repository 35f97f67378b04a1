"""The examples in docstrings, one test a package."""

import doctest
import importlib
import pkgutil

import pytest

import semisift

PACKAGES = [
    "semisift",
    *(f"semisift.{each.name}" for each in pkgutil.iter_modules(semisift.__path__)),
]


def modules_of(name):
    """Return a package, itself and all that is in it; of semisift only itself."""
    package = importlib.import_module(name)
    yield package
    if name != "semisift" and hasattr(package, "__path__"):
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield importlib.import_module(module.name)


@pytest.mark.parametrize("name", PACKAGES)
def test_examples_in_docstrings(name):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed = [
        module.__name__
        for module in modules_of(name)
        if doctest.testmod(module, optionflags=options).failed
    ]
    assert not failed
