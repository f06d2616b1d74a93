"""Converts values of any library to strings, and strings to printable text for messages."""

from __future__ import annotations

from typing import Any


def printable(text: object, most: int = 60) -> str:
    text = str(text)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:most])
    return shown + ("..." if len(text) > most else "")


def one_line(error: BaseException) -> str:
    return printable(" ".join(str(error).split()) or type(error).__name__, 200)


def listed(words: list[str]) -> str:
    return ", ".join(map(printable, words[:12])) + (", ..." if len(words) > 12 else "")


def quoted(text: str) -> str:
    return f'"{printable(text, 30)}"'


def as_word(value: Any) -> str:
    """A label or an identifier; "" if missing. Integers have no decimal point, booleans are 0 and 1."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if hasattr(value, "dtype") and value.dtype.kind == "b" or isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) or hasattr(value, "dtype") and value.dtype.kind == "f":
        if value != value:
            return ""
        return str(int(value)) if float(value).is_integer() else str(value)
    return str(value)


def as_words(values: Any) -> list[str]:
    return [as_word(value) for value in values]


def label_words(values: Any) -> list[str]:
    """Labels without surrounding blanks, as in CSV, and without the padding of MATLAB's character matrices."""
    return [as_word(value).strip(" \t\r\0") for value in values]
