"""Build the images of docker-compose.yml, start it, disturb it: ``python -m tests.compose [EXERCISE…]``.

Prints a table, and what failed. Exit status 0 if every exercise passed, 1 if one failed, 2 if there is no
engine to do them on, and why.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

from tests.compose import images
from tests.compose.engine import NoEngineError, engine
from tests.compose.exercises import EXERCISES
from tests.compose.project import Project
from tests.services.processes import free_port

Row = tuple[str, str, str, str]
LOG_LINES = "40"


def exercised(project: Project, exercise: Callable[[Project], str]) -> tuple[Row, str]:
    """Do an exercise; return its row, and what went wrong."""
    began = time.monotonic()
    try:
        saw, wrong = exercise(project), ""
    except (AssertionError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
        wrong = f"{type(error).__name__}: {error}"
        saw = wrong.splitlines()[0][:160]
    name = exercise.__name__.replace("_", " ")
    return (name, "FAILED" if wrong else "ok", f"{time.monotonic() - began:.0f} s", saw), wrong


def printed(rows: list[Row]) -> None:
    """Print the table, as Markdown."""
    table = [("exercise", "result", "took", "seen"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for at, row in enumerate(table):
        print("| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + " |")
        if at == 0:
            print("| " + " | ".join("-" * width for width in widths) + " |")


def main() -> int:
    """Do the exercises that are named, or all, and return the exit status."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = {one.__name__: one for one in EXERCISES}
    asked.add_argument("exercises", nargs="*", help=f"of {', '.join(known)}; all if none is named")
    names = asked.parse_args().exercises or list(known)
    rows: list[Row] = []
    try:
        with engine() as found:
            print(f"Engine: {found.how}", flush=True)
            for image, source in images.provide(found).items():
                print(f"Image: {image}, {source}", flush=True)
            project = Project(found, free_port())
            try:
                for name in names:
                    row, wrong = exercised(project, known[name])
                    rows.append(row)
                    print(" · ".join(row), flush=True)
                    if wrong:
                        print(
                            wrong,
                            project.compose("logs", "--tail", LOG_LINES, check=False),
                            sep="\n",
                            flush=True,
                        )
            finally:
                project.compose("down", "--volumes", "--remove-orphans", check=False)
    except NoEngineError as error:
        print(f"docker-compose.yml was not exercised. {error}", file=sys.stderr)
        return 2
    print()
    printed(rows)
    return int(any(row[1] != "ok" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
