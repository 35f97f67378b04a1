"""Numbers, lists and names as people read them: on the page, on the terminal, in messages."""

import ast
import math
from collections.abc import Iterable, Sequence
from typing import Any

MAX_NAME = 300
MAX_VALUE = 200

# Characters that show nothing themselves, change what stands around them or cannot be written, and
# what is shown instead: pictures of controls, the replacement character, escapes of what turns the
# direction of writing or ends a line.
SHOWN = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000)], "\N{REPLACEMENT CHARACTER}"),
    **dict.fromkeys(
        [plane + end for plane in range(0, 0x110000, 0x10000) for end in (0xFFFE, 0xFFFF)],
        "\N{REPLACEMENT CHARACTER}",
    ),
    **{
        code: f"\\u{code:04x}"
        for code in (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
}
SHOWN_IN_LINES = {code: shown for code, shown in SHOWN.items() if chr(code) not in "\n\t"}


def printable_name(name: Any) -> str:
    """Return a name in which every character can be seen, written to a file and parsed as HTML.

    Control characters become their pictures, lone surrogates the replacement character;
    see `SHOWN`.

    Examples
    --------
    >>> printable_name("two" + chr(10) + "lines"), printable_name(""), printable_name(3)
    ('two␊lines', '(no name)', '3')
    """
    text = printable(name)
    if len(text) > MAX_NAME:
        text = f"{text[:MAX_NAME]}… ({len(text):,} characters)"
    return text if text.strip() else "(no name)"


def printable(text: Any) -> str:
    """Return a text of any length in which every character can be seen; see `printable_name`.

    Examples
    --------
    >>> printable("two" + chr(10) + "lines")
    'two␊lines'
    """
    return str(text).translate(SHOWN)


def is_writable(value: Any) -> bool:
    """Tell whether something is a text that files can hold, which halves of characters are not.

    Examples
    --------
    >>> is_writable("naïve"), is_writable(chr(0xD83D)), is_writable(3)
    (True, False, False)
    """
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def for_terminal(text: Any) -> str:
    """Return lines of text that cannot steer a terminal.

    Examples
    --------
    >>> for_terminal("a" + chr(27) + "[31m")
    'a␛[31m'
    """
    return str(text).translate(SHOWN_IN_LINES)


def shorten(text: str, length: int) -> str:
    """Cut `text` to at most `length` characters, keeping its end, which tells series apart.

    Examples
    --------
    >>> shorten("standard_deviation_17", 12), shorten("hue", 12)
    ('standard…_17', 'hue')
    """
    if len(text) <= length:
        return text
    end = max(1, length // 4)
    return f"{text[: length - end - 1]}…{text[-end:]}"


def plural(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(22283, "feature"), plural(2, "class", "classes")
    ('1 row', '22,283 features', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def quote(value: Any, length: int = 60) -> str:
    """Write a value from a file between quotation marks, short enough for a message.

    Examples
    --------
    >>> quote("hue"), quote("x" * 100, 12)
    ("'hue'", "'xxxxxxxx…xxx'")
    """
    return repr(shorten(printable_name(value), length)) if isinstance(value, str) else repr(value)


def examples(values: Sequence[Any], most: int = 5) -> str:
    """Write some of many values.

    Examples
    --------
    >>> examples(["a", "b", "c"], 2), examples([1, 2])
    ("'a', 'b', ... (3 in all)", '1, 2')
    """
    shown = ", ".join(quote(value) for value in values[:most])
    return f"{shown}, ... ({len(values)} in all)" if len(values) > most else shown


def join(items: Sequence[str]) -> str:
    """Join words as a sentence does.

    Examples
    --------
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def format_number(value: float) -> str:
    """Write a number with three significant digits.

    Examples
    --------
    >>> [format_number(value) for value in (42.1760, 0.000012, 123456.0, -0.5, float("inf"))]
    ['42.2', '1.20e-05', '123,456', '-0.500', '∞']
    """
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2e}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def same_decimals(values: Iterable[float]) -> str:
    """Return a format for a column of numbers, with five digits for the largest of them.

    Examples
    --------
    >>> format(4.25, same_decimals([42.1760, 0.3])), format(4.25e-9, same_decimals([1e-8]))
    ('4.250', '4.2500e-09')
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest == 0:
        return ".1f"
    if not 1e-4 <= largest < 1e7:
        return ".4e"
    return f",.{min(6, max(1, 4 - math.floor(math.log10(largest))))}f"


def format_value(value: Any) -> str:
    """Write the value of a parameter, the same in every run.

    Examples
    --------
    >>> format_value("auto"), format_value(0.5), format_value(object())
    ("'auto'", '0.5', 'object')
    """
    text = repr(value)
    if " at 0x" in text:  # an address differs from run to run
        return type(value).__name__
    text = printable_name(" ".join(text.split()))
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def python_value(text: str) -> Any:
    """Read a value as Python does; what is no Python value stays text.

    Examples
    --------
    >>> python_value("3"), python_value("none"), python_value("paper")
    (3, None, 'paper')
    """
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
