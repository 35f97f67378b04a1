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
        where the package itself as a module says that the name is a module in it.
    """
    with open(os.path.splitext(file)[0] + ".pyi", encoding="utf-8") as stub:
        imports = [node for node in ast.parse(stub.read()).body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(str(homes[name])), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)
