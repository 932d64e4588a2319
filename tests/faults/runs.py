"""A run that something happens to, and what it came to beside an undisturbed one."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from tests.e2e.bundles import slow
from tests.faults.database import rows
from tests.faults.faults import Fault, Scene
from tests.services.processes import wait_until
from tests.services.stack import Stack

#: Nodes and pods. The first that keeps a worker for LASTS seconds is taken: else a fault finds no run.
SIZES = ((400, 400), (800, 800), (1_600, 1_600), (3_000, 3_000))
LASTS = 3.0
PROMPT = 2.0  # seconds within which a server whose parts answer says that it is ready
ENDED = {"done", "failed", "cancelled"}
REPORTED = ("state", "done", "total", "placed", "pending", "unschedulable", "cache", "error")
#: A worker's claim is stale after half a minute, and looked for every few seconds.
PATIENCE = 240.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run: how long it took and was struck, in seconds; what it ended as."""

    fault: str
    stack: str
    at: float  # of its cycles
    outage: float
    tries: int  # of its worker, while storage was unavailable
    seconds: float
    state: str
    same: bool  # the digest of an undisturbed run
    felt: bool  # the fault reached whom it is for

    @property
    def problem(self) -> str:
        """What is wrong, "" if nothing is: a fault that nobody felt shows nothing."""
        if not self.felt:
            return "NOT FELT"
        return "" if self.same else "DIFFERS"


@dataclass(slots=True)
class Signs:
    """What shows that a fault was felt."""

    tries: int = 0  # of the run's worker, while storage was unavailable
    claims: int = 0  # of the run, by other processes than the one that was struck
    unready: int = 0  # times that the server was not ready, or did not answer, while the fault struck


def is_felt(fault: Fault, signs: Signs) -> bool:
    """Return whether a fault reached whom it is for."""
    counts = {"tries": signs.tries, "claims": signs.claims, "readiness": signs.unready}
    return counts[fault.felt_by] > 0


def start(stack: Stack, text: str) -> str:
    """Start a run; return its id."""
    title = secrets.token_hex(4)  # else it is answered from the store
    shared = stack.post("/api/scenarios", {"bundle": text, "title": title})
    assert shared.status == 201, shared.body
    run = stack.post("/api/runs", {"scenario": shared.json["id"]})
    assert run.status == 201, run.body
    return str(run.json["id"])


def looked_at(stack: Stack, run: str) -> dict[str, Any] | None:
    """Return a run as the API has it, None while it cannot be read."""
    try:
        answer = stack.get(f"/api/runs/{run}")
    except OSError:  # no web server
        return None
    if answer.status != 200:
        assert answer.status in {503, 507}, answer
        assert int(answer.headers["retry-after"]) > 0
        return None
    found: dict[str, Any] = answer.json
    return found


def wait_for(stack: Stack, run: str, part: float) -> dict[str, Any]:
    """Wait until a run has computed a part of its cycles, or has ended; 1 waits for its end."""
    found: dict[str, Any] = {}

    def reached() -> bool:
        found.update(looked_at(stack, run) or {})
        if not found:
            return False
        return found["state"] in ENDED or (part < 1 and found["done"] >= part * found["total"])

    try:
        wait_until(reached, PATIENCE, f"{part:.0%} of the run")
    except AssertionError as error:
        raise AssertionError(f"{error}; at last {json.dumps(found)[:600]}\n{stack.logs()}") from error
    return found


def digest(stack: Stack, run: str) -> str:
    """Return the digest of a finished run: every decision that is stored of it, and what its row came to."""
    reported = looked_at(stack, run)
    assert reported is not None
    unpack = zstandard.ZstdDecompressor().decompressobj
    query = "SELECT data FROM playground_runchunk WHERE run_id = {} ORDER BY number"
    chunks = [json.loads(unpack().decompress(bytes(data))) for (data,) in rows(stack, query, run)]
    # Where one chunk ends and the next begins depends on the machine's speed.
    decisions = [decision for chunk in chunks for decision in chunk]
    assert len(decisions) == reported["done"]
    return hashlib.sha256(json.dumps([[reported[name] for name in REPORTED], decisions]).encode()).hexdigest()


def tries_of(log: str) -> int:
    """Return how often a run's worker tried in vain to reach its storage."""
    ended = [json.loads(line) for line in re.findall(r"^{.*outage ended.*}$", log, re.MULTILINE)]
    return sum(line["errors"] for line in ended if line["what"] == "run")


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A run that nothing happens to: its nodes and pods, and its digest."""

    size: tuple[int, int]
    digest: str


def undisturbed(stack: Stack, sizes: Sequence[tuple[int, int]] = SIZES) -> Undisturbed:
    """Return the first run of these sizes that lasts, or the last one."""
    for size in sizes:
        run = start(stack, slow("faults", *size))
        ended = wait_for(stack, run, 1)
        assert ended["state"] == "done"
        if ended["seconds"] >= LASTS:
            break
    return Undisturbed(size, digest(stack, run))


def struck(scene: Scene, fault: Fault, at: float, seconds: float, expected: Undisturbed) -> Outcome:
    """Start a run, let the fault strike at a part of it, and wait for its end."""
    stack = scene.stack
    run = start(stack, slow("faults", *expected.size))
    began = time.monotonic()
    seen = wait_for(stack, run, at)
    assert seen["state"] == "running", f"too fast to be struck: {seen}"
    before, claimed = tries_of(stack.workers_output()), claimed_at(stack, run)
    unready = _strike(scene, fault, seconds)
    ended = wait_for(stack, run, 1)
    took = time.monotonic() - began
    stack.wait_until_ready()
    same = ended["state"] == "done" and digest(stack, run) == expected.digest
    tries = tries_of(stack.workers_output()) - before
    signs = Signs(tries, int(claimed_at(stack, run) != claimed), unready)
    outage = seconds if fault.lasts else 0.0
    felt = is_felt(fault, signs)
    return Outcome(fault.name, stack.name, at, outage, tries, took, ended["state"], same, felt)


def claimed_at(stack: Stack, run: str) -> str:
    """Return when a run was last claimed by a process, as the database writes it."""
    [(moment,)] = rows(stack, "SELECT claimed FROM playground_run WHERE id = {}", run)
    return str(moment)


def _strike(scene: Scene, fault: Fault, seconds: float) -> int:
    """Let a fault strike; return how often the server was not ready meanwhile, or did not say so in time."""
    striking = threading.Thread(target=fault.strike, args=(scene, seconds))
    striking.start()
    unready = 0
    while striking.is_alive():
        asked = time.monotonic()
        ready = scene.stack.answers("/readyz")
        unready += not ready or time.monotonic() - asked > PROMPT
        striking.join(0.05)
    return unready
