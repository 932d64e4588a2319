"""Every fault at one third and two thirds of a run, with outages of 35 seconds: ``python -m tests.faults``.

Arguments are parts of the names of faults; without one all are tried, which takes a quarter of an hour.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from tests.faults.disk import small_disk
from tests.faults.faults import FAULTS, Fault, Scene
from tests.faults.runs import Outcome, struck, undisturbed
from tests.services import compose
from tests.services.processes import free_port
from tests.services.servers import postgres_server, redis_server
from tests.services.stack import SHELL, Part, compose_parts, embedded_parts, running

SECONDS = 35.0
AT = (1 / 3, 2 / 3)
DISK_MIB = 256
COLUMNS = "{:<20} {:<9} {:>5} {:>7} {:>6} {:>7}  {:<10} {}"


@contextmanager
def scene(name: str, home: Path) -> Iterator[Scene]:
    """Start a stack with what it needs."""
    port = free_port()
    with ExitStack() as opened:
        if name == "embedded":
            parts = embedded_parts(home, port)
            made = Scene(opened.enter_context(running(name, _on_small_disk(parts), home, port)))
        else:
            services = compose.read(SHELL)["services"]
            postgres = opened.enter_context(postgres_server(services["postgres"]["environment"]))
            redis = opened.enter_context(redis_server(services["redis"]["command"]))
            parts = compose_parts(home, port, postgres, redis)
            made = Scene(opened.enter_context(running(name, parts, home, port)), postgres, redis)
        yield made


def _on_small_disk(parts: Mapping[str, Part]) -> dict[str, Part]:
    free = {"PLAYGROUND_DISK_FREE_BYTES": str(2**20)}  # the whole disk is smaller than the default
    return {name: replace(part, env={**part.env, **free}) for name, part in parts.items()}


def tried(name: str, faults: list[Fault]) -> Iterator[Outcome]:
    """Yield what became of each run of a stack."""
    with ExitStack() as opened:
        home = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="podstep-faults-")))
        if any(fault.disk for fault in faults):
            opened.enter_context(small_disk(home / "data", DISK_MIB))
        found = opened.enter_context(scene(name, home))
        expected = undisturbed(found.stack)
        for fault in faults:
            for at in AT:
                yield struck(found, fault, at, SECONDS, expected)


def main(asked: list[str]) -> int:
    """Print a row for each run; return 1 if one did not end as an undisturbed one, or felt nothing."""
    wanted = [fault for fault in FAULTS if not asked or any(part in fault.name for part in asked)]
    print(COLUMNS.format("fault", "stack", "at", "outage", "tries", "took", "state", "digest"))
    wrong = 0
    for name in ("compose", "embedded"):
        faults = [fault for fault in wanted if name in fault.stacks]
        for one in tried(name, faults) if faults else ():
            wrong += bool(one.problem)
            figures = f"{one.at:.0%}", f"{one.outage:g} s", one.tries, f"{one.seconds:.0f} s"
            ended = one.state, one.problem or "equal"
            print(COLUMNS.format(one.fault, one.stack, *figures, *ended), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
