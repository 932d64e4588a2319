"""Hostile bundles through everything that a visitor can set off: ``python -m tests.load fuzz --count 20000``.

Three of four are clusters that live (:mod:`tests.load.living_bundles`). Each is read, put under a release,
opened, played forward and looked at, and one of four is computed as a run too, in a child process whose
memory is bounded. The parent ends a child that is silent for too long; what it was at counts as beyond the
bound. It prints the slowest, the peak of memory and every bundle beyond a bound or answered by a defect.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.load.hostile import hostile, written
from tests.load.living_bundles import living

MIB = 2**20
#: What one visitor may take of the child, far below the defaults: what meets a bound does so soon.
LIMITS = {
    "STEP_SECONDS": "1",
    "STEP_MIB": "512",
    "INTERACTIVE_SECONDS": "1",
    "INTERACTIVE_CYCLES": "40",
    "RUN_CYCLES": "60",
    "RUN_SECONDS": "1",
    "RUN_MIB": "1500",
    "PODS": "20000",
}
UNDER = ("", "", "", "v1.11", "v1.37")  # of every seed one; "": the release that the bundle asks for
PATIENCE = 20  # times the bound: the child has the lowest priority, and may have to wait for a processor


@dataclass
class Report:
    """What came of all bundles so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, int, str]] = field(default_factory=list)  # seconds, seed, phase
    peak_mib: float = 0.0
    beyond: list[tuple[int, str]] = field(default_factory=list)

    def take(self, line: dict[str, Any], bound: float, most_mib: float) -> None:
        """Take what the child mentioned a bundle."""
        self.outcomes[line["outcome"]] += 1
        phase, seconds = max(line["seconds"].items(), key=lambda item: float(item[1]))
        self.slowest = sorted([*self.slowest, (seconds, line["seed"], phase)], reverse=True)[:10]
        self.peak_mib = max(self.peak_mib, line["mib"])
        if seconds > bound:
            self.note(line["seed"], f"{phase} took {seconds:.1f} s")
        if line["mib"] > most_mib:
            self.note(line["seed"], f"{line['mib']:.0f} MiB")
        if line["defect"]:
            self.note(line["seed"], line["defect"])

    def note(self, seed: int, why: str) -> None:
        """Note a bundle that is beyond a bound or met a defect, and print it at once."""
        self.beyond.append((seed, why))
        print(f"BEYOND seed {seed}: {why}", file=sys.stderr, flush=True)

    def print(self, seconds: float) -> None:
        """Print the summary."""
        print(f"{sum(self.outcomes.values()):,} bundles in {seconds:,.0f} s: {dict(self.outcomes)}")
        print(f"peak of memory: {self.peak_mib:,.0f} MiB")
        for took, seed, phase in self.slowest:
            print(f"  {took:6.2f} s  {phase:<8} seed {seed}")
        print(f"{len(self.beyond):,} beyond a bound")


def main(arguments: Sequence[str]) -> int:
    """Drive the bundles; return 1 if one was beyond a bound or met a defect."""
    parser = argparse.ArgumentParser(prog="python -m tests.load fuzz")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--bound", type=float, default=10.0, help="seconds that one response may take")
    parser.add_argument("--mib", type=float, default=2_000, help="resident memory that the child may reach")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of everything")
    options = parser.parse_args(arguments)
    report, began, seed = Report(), time.monotonic(), options.first
    last = options.first + options.count
    with tempfile.TemporaryDirectory(prefix="podstep-fuzz-") as home:
        while seed < last and time.monotonic() - began < options.seconds:
            for line in _child(home, seed, last, PATIENCE * options.bound, options.mib):
                if line is None:
                    report.outcomes["ended"] += 1
                    report.note(seed, "the process was silent for too long, or ended")
                    seed += 1
                    break
                report.take(line, options.bound, options.mib)
                seed = line["seed"] + 1
                if seed % 500 == 0:
                    print(f"… {seed:,}", file=sys.stderr, flush=True)
                if time.monotonic() - began >= options.seconds:
                    break
    report.print(time.monotonic() - began)
    return bool(report.beyond)


def _child(home: str, first: int, last: int, patience: float, mib: float) -> Iterator[dict[str, Any] | None]:
    """Yield what a child tells of each bundle; ``None``, and the end, where it is silent or gone."""
    env = {f"PLAYGROUND_{name}": value for name, value in LIMITS.items()}
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.load.fuzz", str(first), str(last), str(int(mib))],
        stdout=subprocess.PIPE,
        env={
            **os.environ,
            **env,
            "PLAYGROUND_DATA_DIR": home,
            "DJANGO_SETTINGS_MODULE": "playground.settings",
        },
    )
    assert child.stdout is not None
    waiting = selectors.DefaultSelector()
    waiting.register(child.stdout, selectors.EVENT_READ)
    reported = first
    try:
        while reported < last:
            line = child.stdout.readline() if waiting.select(patience) else b""
            if not line:
                yield None
                return
            reported += 1
            yield json.loads(line)
    finally:
        child.kill()
        child.wait()


def text_of(seed: int) -> str:
    """Return the bundle of a seed."""
    return written(living(seed)) if seed % 4 else hostile(seed)


# --- the child -----------------------------------------------------------------------------------


def _work(first: int, last: int, mib: int) -> None:
    """Drive bundles one after the other; tell of each in a line."""
    import django

    resource.setrlimit(resource.RLIMIT_AS, (2 * mib * MIB, 2 * mib * MIB))
    os.nice(10)
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    for seed in range(first, last):
        driven = _Driven(seed)
        driven.drive()
        print(json.dumps(driven.line()), flush=True)


class _Driven:
    """One bundle on its way."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.seconds: dict[str, float] = {}
        self.outcome = "played"
        self.defect = ""

    def line(self) -> dict[str, Any]:
        from playground.playback.deadlines import resident_bytes

        return {
            "seed": self.seed,
            "outcome": self.outcome,
            "seconds": self.seconds,
            "mib": resident_bytes() / MIB,
            "defect": self.defect,
        }

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        began = time.process_time()  # on a busy machine too
        try:
            yield
        finally:
            self.seconds[phase] = max(self.seconds.get(phase, 0.0), time.process_time() - began)

    def drive(self) -> None:
        """Do everything; what is refused in words is fine, anything else is a defect."""
        from playground.playback.deadlines import TooMuchWorkError
        from playground.storage import bundles
        from scheduler_core.kubernetes.problems import BundleError

        try:
            self._drive()
        except (BundleError, bundles.TooLargeError):
            self.outcome = "refused"
        except TooMuchWorkError:
            self.outcome = "stopped"
        except MemoryError:
            self.outcome, self.defect = "defect", "MemoryError"
        except Exception as error:
            self.outcome, self.defect = "defect", f"{type(error).__name__}: {error}"[:300]

    def _drive(self) -> None:
        from playground.playback import releases
        from playground.storage import bundles

        text = text_of(self.seed)
        with self.timed("load"):
            scenario = bundles.parse([("", text)], "fuzz")
        if self.seed % 16 < 4:
            self._run(scenario, text)
        with self.timed("under"):
            scenario = releases.under(scenario, UNDER[self.seed % len(UNDER)])
        self._play(scenario)

    def _play(self, scenario: Any) -> None:
        from playground.playback.playback import SLICE_SECONDS, Playback

        with self.timed("open"):
            playback = Playback(scenario)
        more = True
        while more:
            with self.timed("advance"):
                more = playback.advance(SLICE_SECONDS)
        if playback.stopped:
            self.outcome = "stopped"
        count = len(playback)
        for index in sorted({1, count}) if count else ():
            for phase, look in LOOKS.items():
                with self.timed(phase):
                    look(playback, index)
        if playback.ended:
            with self.timed("rest"):
                playback.rest()

    def _run(self, scenario: Any, text: str) -> None:
        from playground.models import FAILED, Run, new_run_id
        from playground.runs.compute import compute
        from playground.storage import store

        row = store.keep_scenario(scenario, text)
        run = Run.objects.create(id=new_run_id(), scenario=row, title="fuzz", owner="fuzz")
        with self.timed("run"):
            state = compute(run.pk)
        if state == FAILED:
            reported = Run.objects.get(pk=run.pk).error
            self.outcome = "run failed"
            if reported.startswith(("The simulation failed", "The worker ran out")):
                self.defect = reported[:300]
        Run.objects.filter(pk=run.pk).delete()
        row.delete()


def _window(playback: Any, index: int) -> None:
    from playground.panels import steps

    steps.window(playback, index, 1)


def _before(playback: Any, index: int) -> None:
    with playback.before(index) as simulation:
        simulation.placement()


def _after(playback: Any, index: int) -> None:
    with playback.after(index) as simulation:
        simulation.placement()


def _parts(playback: Any, index: int) -> None:
    from playground.panels import steps
    from playground.panels.cycle import PARTS

    steps.parts(playback, index, list(PARTS))


LOOKS: dict[str, Callable[[Any, int], object]] = {
    "window": _window,
    "parts": _parts,
    "before": _before,
    "after": _after,
}


if __name__ == "__main__":
    _work(*map(int, sys.argv[1:]))
