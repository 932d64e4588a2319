"""Start podstep as ``make run`` does, put it under the load of a subject, and print what was measured.

``python -m tests.load SUBJECT [--seconds S] [--base URL] [--pid PID]``, a subject being a row of
:data:`SUBJECTS`. With ``--base`` a running server is measured; its limits of requests a minute should be
raised as :data:`tests.load.server.RAISED` does. The figures go to ``var/load/SUBJECT.json`` as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from tests.load import neighbour, opening
from tests.load.server import Server, serving
from tests.parts import REPOSITORY

OUTPUT = REPOSITORY / "var" / "load"

Figures = Mapping[str, float]
Subject = Callable[[Server, float], Coroutine[Any, Any, Figures]]  # the server, and seconds of load

SUBJECTS: Mapping[str, Subject] = {
    "neighbour": neighbour.measure,
    "opening": opening.measure,
}


def main() -> int:
    """Measure one subject; return 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.load")
    parser.add_argument("subject", choices=sorted(SUBJECTS))
    parser.add_argument("--seconds", type=float, default=30.0, help="of load (default: %(default)s)")
    parser.add_argument("--base", help="the address of a server that runs already")
    parser.add_argument("--pid", type=int, help="its web process, with --base")
    options = parser.parse_args()
    with serving(options.base, options.pid) as server:
        figures = asyncio.run(SUBJECTS[options.subject](server, options.seconds))
    for name, value in figures.items():
        print(f"{name:<44} {value:12,.3f}")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    report = {"machine": platform.platform(), **figures}
    (OUTPUT / f"{options.subject}.json").write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
