"""Packages whose names are imported when they are first used.

The stub of such a package, ``__init__.pyi``, is the one list of its public names and of where they
come from: type checkers and editors read it, and so does `lazy_names`.
"""

import ast
import importlib
import os
import sys
from collections.abc import Callable


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    file : str
        Its ``__file__``, beside which the stub lies: lines ``from module import name as name``,
        where the package itself as a module says that the name is a module in it, and
        ``from subpackage import *`` for all names of the stub of a subpackage.
    """
    homes = _read_homes(package, os.path.splitext(file)[0] + ".pyi")

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)


def _read_homes(package: str, stub: str) -> dict[str, str]:
    """Return the module of each name in a stub."""
    with open(stub, encoding="utf-8") as file:
        imports = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ImportFrom)]
    homes: dict[str, str] = {}
    for node in imports:
        module = str(node.module)
        if node.names[0].name == "*":
            inside = module.removeprefix(f"{package}.").split(".")
            homes |= _read_homes(
                module, os.path.join(os.path.dirname(stub), *inside, "__init__.pyi")
            )
        else:
            homes |= {alias.name: module for alias in node.names}
    return homes
