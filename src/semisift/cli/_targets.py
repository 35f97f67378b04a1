"""Files that a command is going to write: what is wrong with them is told before any work."""

from collections.abc import Collection
from pathlib import Path

import click

from semisift._files import can_write


class Targets:
    """The files that a command writes, each checked against what it reads and the others.

    Parameters
    ----------
    inputs : collection of str
        Files that are read.
    """

    def __init__(self, inputs: Collection[str] = ()) -> None:
        self._inputs = {Path(name).resolve() for name in inputs}
        self._options: dict[Path, str] = {}

    def add(self, given: str, option: str, endings: tuple[str, ...] = ()) -> Path:
        """Return the path of a file that can be written.

        Parameters
        ----------
        given : str
        option : str
            That named it, for messages.
        endings : tuple of str
            That its name may have; none allows all.

        Raises
        ------
        click.BadParameter
        """
        path = Path(given)
        if problem := self._problem(path, endings):
            raise click.BadParameter(f"{given}: {problem}", param_hint=option)
        self._options[path.resolve()] = option
        return path

    def _problem(self, path: Path, endings: tuple[str, ...]) -> str | None:
        whole = path.resolve()
        if whole in self._inputs:
            return "is a file that is read. Give the result another name."
        if whole in self._options:
            return f"is also given for {self._options[whole]}. Give them different names."
        if not whole.parent.is_dir():
            return f"the folder {path.parent} does not exist. Create it first."
        if not can_write(whole.parent):
            return f"the folder {path.parent} cannot be written to. Choose another."
        if path.is_dir():
            return "is a folder that exists already. Give another name, or remove it."
        if endings and not path.name.lower().endswith(endings):
            return f"the name must end in {' or '.join(endings)}."
        return None
