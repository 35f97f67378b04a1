"""Print the lines of code of each room, without docstrings, comments and blank lines.

``python tools/count_lines.py [FOLDER OR FILE ...]``; by default the rooms of ``src/semisift``. Of
paths that are named, each is a line of its own.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

HOUSE = Path(__file__).parents[1] / "src" / "semisift"
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_code(text: str) -> int:
    """Return how many lines of a module hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spoken = [token for token in tokens if token.type not in SILENT]
    lines = {n for token in spoken for n in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, HAVE_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
            lines -= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    return len(lines)


def count_room(path: Path) -> tuple[int, int, int]:
    """Return files, lines and lines of code of a folder or file."""
    texts = [file.read_text(encoding="utf-8") for file in modules(path)]
    n_lines = sum(len(text.splitlines()) for text in texts)
    return len(texts), n_lines, sum(map(count_code, texts))


def modules(path: Path) -> list[Path]:
    """Return the modules in a folder; a file is its own."""
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def rooms(named: list[str]) -> dict[str, list[Path]]:
    """Return what is counted, by its name."""
    if named:
        return {name: [Path(name)] for name in named}
    folders = [path for path in sorted(HOUSE.iterdir()) if path.is_dir() and modules(path)]
    return {**{path.name: [path] for path in folders}, "(top)": sorted(HOUSE.glob("*.py"))}


def main() -> None:
    """Print a table in Markdown."""
    print("| room | files | lines | code |\n| --- | --- | --- | --- |")
    total = [0, 0, 0]
    for name, paths in rooms(sys.argv[1:]).items():
        counts = [sum(column) for column in zip(*map(count_room, paths), strict=True)]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(f"| {name} | {' | '.join(f'{n:,}' for n in counts)} |")
    print(f"| all | {' | '.join(f'{n:,}' for n in total)} |")


if __name__ == "__main__":
    main()
