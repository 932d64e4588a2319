"""Subjects that need one server with default settings and some seconds of load: figures by name, and bounds.

They print what was measured, write it to ``var/load/SUBJECT.json``, and fail where a bound does not hold.
With ``--base`` a running server is measured; its limits of requests a minute should be raised as
:data:`tests.load.server.RAISED` does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.load import large_links, lives, neighbour, queue, storm
from tests.load.bounds import Bound, Figures, judged
from tests.load.server import Server, serving
from tests.parts import REPOSITORY

OUTPUT = REPOSITORY / "var" / "load"

Measure = Callable[[Server, float], Coroutine[Any, Any, Figures]]  # the server, and seconds of load


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured, and what has to hold of it."""

    measure: Measure
    bounds: Sequence[Bound]


SUBJECTS: Mapping[str, Subject] = {
    "lives": Subject(lives.measure, lives.BOUNDS),
    "neighbour": Subject(neighbour.measure, neighbour.BOUNDS),
    "opening": Subject(large_links.measure, large_links.BOUNDS),
    "queue": Subject(queue.measure, queue.BOUNDS),
    "storm": Subject(storm.measure, storm.BOUNDS),
}


def measure(subject: str, arguments: Sequence[str]) -> int:
    """Start podstep as ``make run`` does, or take a running server, and measure one subject.

    Returns 1 if a bound does not hold.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tests.load {subject}")
    parser.add_argument("--seconds", type=float, default=30.0, help="of load (default: %(default)s)")
    parser.add_argument("--base", help="the address of a server that runs already")
    parser.add_argument("--pid", type=int, help="its web process, with --base")
    options = parser.parse_args(arguments)
    with serving(options.base, options.pid) as server:
        figures = asyncio.run(SUBJECTS[subject].measure(server, options.seconds))
    for name, value in figures.items():
        print(f"{name:<44} {value:12,.3f}")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    report = {"machine": platform.platform(), **figures}
    (OUTPUT / f"{subject}.json").write_text(json.dumps(report, indent=1) + "\n")
    return judged(figures, SUBJECTS[subject].bounds)
