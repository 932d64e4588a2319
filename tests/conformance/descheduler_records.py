"""The descheduler's records: how an answer is compared with what the original did in many runs.

``python -m tests.conformance.descheduler_records`` prints what differs, and the records answered in a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scheduler_core.cluster.descheduler.conformance import answer
from tests.conformance.record_files import DATA, print_matches

FILE = DATA / "descheduler.jsonl.gz"
ANY = "*"  # the value varied between the original's runs
COUNTS = ("evictedCount", "perNode", "perStrategy")
PODS = ("evicted", "evictedInSomeRuns", "refusedByPDB", "refusedByPDBInSomeRuns")
KEYS = frozenset(("error", *COUNTS, *PODS))


def problems(record: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return where an answer leaves the envelope of the original's runs."""
    if "error" in found:
        return [f"it is not answered: {found['error']}"]
    expected, got = record["expect"], found["expect"]
    if expected["error"] is not None or got["error"] is not None:
        return [] if got == {"error": expected["error"]} else [f"the error is {got['error']!r}"]
    return list(_outside(expected, got))


def _outside(expected: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
    if got.keys() - {"order"} != KEYS:
        yield f"the fields are {sorted(got)}"
    sure, evicted = expected["evicted"], got["evicted"]
    for pod in sure.keys() - evicted.keys():
        yield f"{pod} stays"
    for pod in evicted.keys() - sure.keys() - set(expected["evictedInSomeRuns"]):
        yield f"{pod} is evicted"
    for pod in sure.keys() & evicted.keys():
        if evicted[pod] != sure[pod] and sure[pod] != ANY:
            yield f"{pod} is evicted by {evicted[pod]}, not {sure[pod]}"
    low, high = expected["evictedCount"]
    if got["evictedCount"] != [len(evicted)] * 2 or not low <= len(evicted) <= high:
        yield f"{len(evicted)} are evicted, not {low} to {high}"
    for name in COUNTS[1:]:
        wanted, counts = expected[name], got[name]
        wrong = [
            key
            for key in wanted.keys() | counts.keys()
            if wanted.get(key) != ANY and wanted.get(key, 0) != counts.get(key, 0)
        ]
        if wrong:
            yield f"{name} is {counts}, not {wanted}"
    refused, maybe = set(expected["refusedByPDB"]), set(expected["refusedByPDBInSomeRuns"])
    if not refused <= set(got["refusedByPDB"]) <= refused | maybe:
        yield f"refused are {got['refusedByPDB']}, not {sorted(refused)} and some of {sorted(maybe)}"
    if "order" in expected and got.get("order") != expected["order"]:
        yield f"the order is {got.get('order')}, not {expected['order']}"


if __name__ == "__main__":
    sys.exit(bool(print_matches(FILE, answer, problems, lambda _record: ["records"])))
