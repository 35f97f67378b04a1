"""Writing generated pages."""

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a page, unless it is there and the same: what did not change is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = text.rstrip() + "\n"
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def remove_others(folder: Path, kept: set[str]) -> None:
    """Remove pages that an earlier build made and this one does not."""
    for path in folder.glob("*"):
        if path.is_file() and path.name not in kept:
            path.unlink()


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
