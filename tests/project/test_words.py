"""Words that were private to the project stay out: the field has its own for all of them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
READ = {".py", ".pyi", ".md", ".toml", ".html", ".txt", ".js", ".pyx", ".pxi", ".pxd", ".h"}

# Old words, each with what is said now. The changelog's table of names is the one place for them.
PRIVATE = {
    r"near[-_ ]cop(y|ies)": "correlated features",
    r"twins": "permuted features",
    r"told from chance": "significant",
    r"unconfirmed": "not significant",
    r"has_gaps|takes_gaps|gaps_left": "missing values",
    r"takes_one_class|takes_stored|labels_rows": "supports_..., is_transductive",
    r"StoredRows|represented_by_?|family_correlation_?|strangers_": "the names of the changelog",
    r"(SampledRows|UnknownClass|NothingUnlabelled|NothingSelected|FewTestRows)Warning": "see there",
    r"(LongRun|KernelsMissing)Warning": "see there",
    r"plot_cd|rank_features|label_cells": "see there",
    r"--(thorough|passes|memory|labels-out|keep|prior)\b(?!-)": "the options of today",
    r"(MOST|LEAST|LONGEST|FEWEST)_[A-Z_]+": "MAX_, MIN_",
    r"entrants?|obituary|blaming": "methods, failures, error_context",
}


def files():
    for folder in ("src", "tests", "docs", "examples", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*")):
            is_made = "_build" in path.parts or path == Path(__file__)
            if path.suffix in READ and not is_made:
                yield path


def test_no_private_word_is_left():
    pattern = re.compile("|".join(rf"\b(?:{words})" for words in PRIVATE))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := pattern.search(line))
    ]
    assert found == []
