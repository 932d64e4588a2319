"""Mutated bundles, clusters that live, and frames against a real server: ``python -m tests.load abuse``.

Each bundle is shared, and its first cycles are read; half of those that are accepted are opened over the
socket and asked about, some are compared. Frames of every command follow, with payloads that are mutated too.
Nothing may be answered by a status of 500 or more or by ``server.error``, and no answer may take longer than
``--bound`` seconds. Each distinct traceback of the server's log is printed once, with the smallest input that
led to it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed

from tests.conformance.random_records import Dice
from tests.load.corpus import starts
from tests.load.frames import frame
from tests.load.living_bundles import cluster, living
from tests.load.mutants import mutant, written
from tests.load.server import RAISED, serving
from tests.services import client

LIMITS = {
    **RAISED,
    "PLAYGROUND_FRAMES_PER_SECOND": "10000",
    "PLAYGROUND_STEP_SECONDS": "5",
    "PLAYGROUND_INTERACTIVE_SECONDS": "5",
    "PLAYGROUND_INTERACTIVE_CYCLES": "200",
    "PLAYGROUND_PODS": "5000",
    "PLAYGROUND_STORAGE_PER_OWNER": str(2**33),
    "PLAYGROUND_STORAGE_PER_ADDRESS": str(2**33),
}
TRIALS = 150  # requests to find the smallest input of a defect
BEGINNING = "Traceback (most recent call last)"
PARTS = ["inspect", "policy", "nodes", "moments"]
FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


@dataclass
class Defect:
    """A distinct failure: what was answered, the traceback in the log, the smallest input so far."""

    about: str
    trace: str
    seed: int
    text: str
    count: int = 1


@dataclass
class Report:
    """What came of all inputs so far."""

    answers: Counter[str] = field(default_factory=Counter)
    defects: dict[str, Defect] = field(default_factory=dict)
    slowest: list[tuple[float, int, str]] = field(default_factory=list)  # seconds, seed, request

    def took(self, seconds: float, seed: int, what: str) -> None:
        """Note how long an answer took."""
        self.slowest = sorted([*self.slowest, (seconds, seed, what)], reverse=True)[:10]

    def found(self, about: str, trace: str, seed: int, text: str) -> Defect:
        """Note a failure; return its row."""
        known = self.defects.get(key := _place(trace) or about)
        if known is None:
            self.defects[key] = known = Defect(about, trace, seed, text)
            print(f"DEFECT seed {seed}: {about}\n{trace}", file=sys.stderr, flush=True)
        else:
            known.count += 1
        return known


def failed(report: Report, bound: float) -> bool:
    """Return whether a defect was found, or an answer took longer than ``bound`` seconds."""
    return bool(report.defects) or any(seconds > bound for seconds, _, _ in report.slowest)


def _place(trace: str) -> str:
    """Return the place in podstep's code where an exception was raised, with its type; "" of no traceback."""
    frames = [
        (Path(path).name, line, name) for path, line, name in FRAME.findall(trace) if "/.venv/" not in path
    ]
    return f"{frames[-1]} {trace.rstrip().rpartition(chr(10))[2].partition(':')[0]}" if frames else ""


class Log:
    """The logs of the server's processes, and the tracebacks that came since one last looked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}

    def tracebacks(self) -> list[str]:
        """Return the tracebacks that were written since the last call."""
        found: list[str] = []
        for path in sorted(self._folder.glob("*.log")):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                text = file.read().decode(errors="replace")
                self._read[path] = file.tell()
            found += [_unfolded(line) for line in text.splitlines() if BEGINNING in line]
        return found


def _unfolded(line: str) -> str:
    """Return the traceback in a line of the log, which is JSON."""
    try:
        reported = json.loads(line)
    except ValueError:
        return line
    return str(reported.get("exception") or reported.get("exc_info") or reported)


class Abuser:
    """Who sends everything: one client of one server."""

    def __init__(self, base: str, log: Log, report: Report) -> None:
        self.base, self.log, self.report = base, log, report
        self.sources: list[dict[str, Any]] = []
        self._opened: dict[str, Any] = {}  # what opening the newest scenario was answered

    # --- bundles ---------------------------------------------------------------------------------

    def bundle(self, seed: int) -> None:
        """Send one mutated bundle all the way; find the smallest input if it meets a defect."""
        documents = living(seed) if seed % 2 else mutant(seed)
        if about := self._way(seed, documents):
            traces = self.log.tracebacks()
            known = self.report.found(about, traces[-1] if traces else "", seed, written(documents))
            if known.count == 1:
                known.text = written(self._smallest(documents, about))

    def _way(self, seed: int, documents: list[Any]) -> str:
        """Return what was wrong with an answer, "" if nothing was."""
        dice = Dice(seed + 1)
        body = {"bundle": written(documents)}
        shared = self._ask(seed, "POST", "/api/scenarios", body)
        if isinstance(shared, str):
            return shared
        if shared.status != 201:
            return ""
        name, token = shared.json["id"], shared.json["delete_token"]
        paths = [f"/api/scenarios/{name}/cycles?from=1&count=20", f"/api/scenarios/{name}/cycles/1"]
        paths += [f"/api/scenarios/{name}/costs"] * dice.chance(0.05)
        paths += [f"/api/compare?left={name}&right={name}&rightScheduler=v1.37"] * dice.chance(0.1)
        paths += [f"/api/scenarios/{name}", f"/api/scenarios/{name}/bundle"] * dice.chance(0.1)
        paths += [f"/s/{name}/", f"/s/{name}/card.png?step=1"] * dice.chance(0.05)
        wrong = ""
        for path in paths:
            answer = self._ask(seed, "GET", path)
            if isinstance(answer, str):
                wrong = answer
                break
        wrong = wrong or (self._looked_at(seed, name) if dice.chance(0.5) else "")
        if dice.chance(0.05) and len(self.sources) < 200:
            self.sources.append({"scenario": name})
        else:
            client.request(
                "DELETE", f"{self.base}/api/scenarios/{name}", headers={"Authorization": f"Bearer {token}"}
            )
        return wrong

    def _ask(self, seed: int, method: str, path: str, body: Any = None) -> client.Answer | str:
        began = time.monotonic()
        try:
            answer = client.request(method, self.base + path, body)
        except OSError as error:
            return f"{method} {path.partition('?')[0]}: {type(error).__name__}"
        self.report.took(time.monotonic() - began, seed, f"{method} {path.rsplit('/', maxsplit=1)[-1][:20]}")
        self.report.answers[f"{method} {answer.status}"] += 1
        if answer.status >= 500 and not _busy(answer):
            return f"{method} {re.sub('[A-Za-z0-9_-]{11}', 'ID', path)}: {answer.status}"
        return answer

    def _looked_at(self, seed: int, name: str) -> str:
        """Open a scenario over the socket, and ask what a page asks."""
        self._opened = {}
        source = {"scenario": name}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("scenario.open", {"source": source}),
            (
                "cycle.get",
                {"source": source, "step": "1", "parts": ["inspect", "policy", "nodes", "moments"]},
            ),
            ("cycles.window", {"source": source, "from": 1, "count": 50}),
            ("events.list", {"source": source, "to": 1, "count": 50}),
            ("objects.list", {"source": source, "step": "1.0"}),
        ]
        with client.open_socket(self.base) as socket:
            if wrong := self._asked(seed, socket, asked):
                return wrong
            opened = self._opened
            last = str(max(1, opened.get("cycles", 1)))
            pods = opened.get("pods", {}).get("keys", [])
            asked = [("cycle.get", {"source": source, "step": last, "parts": PARTS})]
            for pod in (*pods[:1], *pods[-1:]):
                asked += [("why.ask", {"source": source, "step": step, "pod": pod}) for step in ("1", last)]
            if wrong := self._asked(seed, socket, asked):
                return wrong
        return ""

    def _asked(self, seed: int, socket: client.Socket, asked: list[tuple[str, dict[str, Any]]]) -> str:
        for command, payload in asked:
            began = time.monotonic()
            try:
                answer = socket.call(command, payload)
                if command == "scenario.open":
                    self._opened = answer
                self.report.answers["success"] += 1
            except client.CommandError as error:
                self.report.answers[str(error.code)] += 1
                if error.code == "server.error":
                    return f"{command}: server.error"
                if command == "scenario.open":
                    break
            self.report.took(time.monotonic() - began, seed, command)
        return ""

    def _smallest(self, documents: list[Any], about: str) -> list[Any]:
        """Remove documents, then their parts, as long as the same is answered."""
        left = [TRIALS]

        def still(candidate: list[Any]) -> bool:
            left[0] -= 1
            return left[0] > 0 and self._way(0, candidate) == about

        found = smallest(documents, still)
        self.log.tracebacks()
        return found

    # --- frames ----------------------------------------------------------------------------------

    def frames(self, first: int, count: int) -> None:
        """Send so many frames, fifty on a connection; they are about links, and drafts of the sender."""
        seed, last = first, first + count
        while seed < last:
            cookie, drafts = self._drafts()
            with client.open_socket(self.base, cookie) as socket:
                for _ in range(min(50, last - seed)):
                    seed += 1
                    if not self._frame(socket, seed, [*self.sources[:20], *drafts]):
                        break

    def _drafts(self) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """Create drafts of good bundles for a new visitor; return the cookie and the drafts."""
        headers: dict[str, str] = {}
        drafts: list[dict[str, Any]] = []
        cookie = {}
        for documents in (*starts()[:12:3], *(cluster(Dice(seed)) for seed in range(4))):
            made = client.request("POST", f"{self.base}/api/drafts", {"bundle": written(documents)}, headers)
            if made.status == 201:
                drafts.append({"draft": made.json["id"]})
                headers = {"Authorization": f"Bearer {made.json['token']}"}
                cookie = {"Cookie": f"podstep_visitor={made.json['token']}"}
        return cookie, drafts

    def _frame(self, socket: client.Socket, seed: int, sources: list[dict[str, Any]]) -> bool:
        text = frame(seed, sources)
        began = time.monotonic()
        try:
            socket.connection.send(text)
            # A frame that is answered under no id is followed by one that is.
            socket.connection.send(json.dumps(["session.hello", 10**6 + seed, {}]))
            while True:
                kind, number, payload = json.loads(socket.connection.recv(timeout=client.PATIENCE))
                if kind == "error":
                    self.report.answers[str(payload["code"])] += 1
                    if payload["code"] == "server.error":
                        traces = self.log.tracebacks()
                        self.report.found(f"frame: {payload}", traces[-1] if traces else "", seed, text)
                if number == 10**6 + seed:
                    self.report.took(time.monotonic() - began, seed, text[:24])
                    return True
        except (ConnectionClosed, TimeoutError) as error:
            traces = self.log.tracebacks()
            self.report.answers[type(error).__name__] += 1
            if traces or isinstance(error, TimeoutError):
                self.report.found(f"frame: {error!r}", traces[-1] if traces else "", seed, text)
            return False


def _busy(answer: client.Answer) -> bool:
    """Return whether the server says when to come back, as it may while it is too busy or too full."""
    return answer.status in {503, 507} and "retry-after" in answer.headers


def smallest(documents: list[Any], still: Any) -> list[Any]:
    """Return documents without the documents and parts that can go while ``still`` holds."""
    found = documents
    for place in reversed(range(len(found))):
        candidate = found[:place] + found[place + 1 :]
        if candidate and still(candidate):
            found = candidate
    for place in range(len(found)):
        for key in list(found[place]) if isinstance(found[place], dict) else ():
            less = {name: value for name, value in found[place].items() if name != key}
            candidate = [*found[:place], less, *found[place + 1 :]]
            if still(candidate):
                found = candidate
    return found


def main(arguments: Sequence[str]) -> int:
    """Abuse a server; print what came of it; return 1 if anything was answered by a defect."""
    parser = argparse.ArgumentParser(prog="python -m tests.load abuse", description=__doc__)
    parser.add_argument("--bundles", type=int, default=20_000)
    parser.add_argument("--frames", type=int, default=5_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--bound", type=float, default=60.0, help="seconds that one answer may take")
    options = parser.parse_args(arguments)
    report = Report()
    with serving(limits=LIMITS) as server:
        assert server.home is not None
        abuser = Abuser(server.base, Log(server.home), report)
        for number, seed in enumerate(range(options.first, options.first + options.bundles), 1):
            abuser.bundle(seed)
            if number % 500 == 0:
                print(f"… {number:,} {dict(report.answers)}", file=sys.stderr, flush=True)
        abuser.frames(options.first, options.frames)
        for trace in abuser.log.tracebacks():
            report.found("a traceback in the log", trace, -1, "")
    shown(report, options.bound)
    return int(failed(report, options.bound))


def shown(report: Report, bound: float) -> None:
    """Print what came of all inputs."""
    for name, count in sorted(report.answers.items()):
        print(f"{count:9,} {name}")
    for seconds, seed, what in report.slowest:
        print(f"{seconds:8.2f} s {'BEYOND ' if seconds > bound else ''}{what} (seed {seed})")
    for defect in report.defects.values():
        print(f"DEFECT x{defect.count} {defect.about} (seed {defect.seed})", defect.trace, sep="\n")
        print(defect.text[:3000])
    print(f"{len(report.defects)} distinct defects")
