"""``--output``: an answer as text, JSON or Markdown; in color where standard output is a terminal."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TextIO, TypeVar

Item = TypeVar("Item")

FORMATS = ("text", "json", "markdown")
TICK = 0.2
"""Seconds between two reports of progress on a terminal."""
COLORED_LINES = 2_000
"""How many lines of an answer are colored: what follows them is plain."""
STYLES = {
    r"\b(does not fit|violated|pending|preempted|at risk|fails)\b": "red",
    r"\b(fits|placed|bound|holds)\b": "green",
    r"^(warning|note)\b": "yellow",
    r"^\S[^:]*:$": "bold",
}
"""Expressions of text with the style in which a terminal shows them."""
_COLUMNS = re.compile(r"\S {2,}\S")
_HEADING = re.compile(r"^\S.*:$")


def add_output_argument(parser: argparse.ArgumentParser, *more: str) -> None:
    """Declare ``--output`` with the formats of every command, and ``more`` of this one."""
    parser.add_argument(
        "--output", choices=(*FORMATS, *more), default="text", help="the format of the answer (default: text)"
    )
    parser.add_argument(
        "--json", dest="output", action="store_const", const="json", help="the same as --output json"
    )


def write_answer(
    output: str,
    lines: Callable[[], Iterable[str]],
    data: Callable[[], object],
    out: TextIO | None = None,
) -> None:
    """Write an answer to standard output, or ``out``: ``data`` as one JSON value, else its ``lines``."""
    out = out or sys.stdout
    if output == "json":
        print(json.dumps(data(), ensure_ascii=False), file=out)
    elif output == "markdown":
        print("\n".join(markdown(lines())), file=out)
    else:
        _write_text(iter(lines()), out)


def _write_text(lines: Iterator[str], out: TextIO) -> None:
    """Write lines, in color on a terminal that has it."""
    if is_colored(out):
        _write_colored(lines, out)
    out.writelines(f"{line}\n" for line in lines)


def is_colored(out: TextIO) -> bool:
    """Return whether a stream is a terminal with colors; ``NO_COLOR`` turns them off."""
    return out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _write_colored(lines: Iterator[str], out: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out, soft_wrap=True)
    for _, line in zip(range(COLORED_LINES), lines):
        text = Text(line)
        for expression, style in STYLES.items():
            text.highlight_regex(expression, style)
        console.print(text)


def markdown(lines: Iterable[str]) -> Iterator[str]:
    """Yield an answer's lines as Markdown: headings, lists of what is indented, columns as they are."""
    for kind, group in groupby(lines, _kind):
        yield from _MARKDOWN[kind](group)


def _kind(line: str) -> str:
    if not line:
        return "blank"
    if _COLUMNS.search(line):
        return "columns"
    if line.startswith(" "):
        return "list"
    return "heading" if _HEADING.match(line) else "text"


def _headings(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from (f"### {line[:-1]}", "")


def _list(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        text = line.lstrip()
        depth = max(0, len(line) - len(text) - 2)
        yield f"{' ' * depth}- {text.removeprefix('- ')}"


def _columns(lines: Iterable[str]) -> Iterator[str]:
    yield from ("```text", *lines, "```")


_MARKDOWN: dict[str, Callable[[Iterable[str]], Iterator[str]]] = {
    "blank": lambda _: iter([""]),
    "columns": _columns,
    "heading": _headings,
    "list": _list,
    "text": lambda lines: (f"{line}  " for line in lines),
}


def counted_on_terminal(items: Iterable[Item], noun: str) -> Iterator[Item]:
    """Yield the items, and keep their number on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    due = time.monotonic() + TICK
    for number, item in enumerate(items, 1):
        if time.monotonic() >= due:
            print(f"\r{number:,} {noun}", end="", file=sys.stderr, flush=True)
            due = time.monotonic() + TICK
        yield item
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)
