"""kube-scheduler v1.37's records: how often each plugin came to each outcome, and whether they match.

``python -m tests.conformance.v1_37_records`` prints that with the records answered in a second.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from scheduler_core.schedulers.v1_37.records import answer
from tests.conformance.record_files import DATA, read_lines

COUNTS = {"cycles": 400, "runs": 80, "gang": 57, "corners": 529}


def lines(name: str) -> list[str]:
    """Read one of the files."""
    return read_lines(DATA / f"scheduler-v1.37-{name}.jsonl.gz")


def comparable(expect: dict[str, Any]) -> dict[str, Any]:
    """Return the decisions of a record, without what the original logged."""
    cycles = [{k: v for k, v in cycle.items() if k != "errors"} for cycle in expect["cycles"]]
    return {**expect, "cycles": cycles}


def outcomes(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each plugin with what it answered: at its extension point, the code of its status."""
    for cycle in record["expect"]["cycles"]:
        for attempt in cycle["attempts"]:
            for plugin, status in (attempt["preFilter"] or {}).items():
                yield plugin, f"PreFilter {status['code']}"
            for status in (attempt["failed"] or {}).values():
                yield status["plugin"], f"Filter {status['code']}"
            for plugin, code in (attempt["preScore"] or {}).items():
                yield plugin, f"PreScore {code}"
            for plugin in attempt["scores"] or ():
                yield plugin, "Score"
            for plugin, status in (attempt["postFilter"] or {}).items():
                yield plugin, f"PostFilter {status['code']}"
            for point, status in (attempt["points"] or {}).items():
                yield point.partition("/")[2], f"{point.partition('/')[0]} {status['code']}"


def main() -> int:
    """Answer every record and print the table; return how many are wrong."""
    seen: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    for name in COUNTS:
        records = [json.loads(line) for line in lines(name)]
        began = time.perf_counter()
        found = [answer(record) for record in records]
        seconds = time.perf_counter() - began
        for record, one in zip(records, found, strict=True):
            if comparable(one["expect"]) != comparable(record["expect"]):
                wrong.append(record["id"])
            for plugin, outcome in outcomes(record):
                seen.setdefault(plugin, Counter())[outcome] += 1
        print(f"{name}: {len(records)} records, {len(records) / seconds:.0f} records/s")
    for plugin, counts in sorted(seen.items()):
        reported = ", ".join(f"{outcome} {count:,}" for outcome, count in sorted(counts.items()))
        print(f"{plugin:32} {reported}")
    print(f"{sum(COUNTS.values()) - len(wrong)} of {sum(COUNTS.values())} records match", *wrong[:20])
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main()))
