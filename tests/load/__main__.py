"""``python -m tests.load SUBJECT …``: put the real server under load, and print what it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tests.load import abuse, fuzz, lessons, memory, rooms, server_subjects, steps, sweeps, traces

Main = Callable[[Sequence[str]], int | None]

SUBJECTS: Mapping[str, Main] = {
    **{name: partial(server_subjects.measure, name) for name in server_subjects.SUBJECTS},
    "steps": steps.main,
    "memory": memory.main,
    "fuzz": fuzz.main,
    "abuse": abuse.main,
    "lessons": lessons.main,
    "rooms": rooms.main,
    "traces": traces.main,
    "sweeps": sweeps.main,
}


def main() -> int:
    """Run the subject that is named first, the other arguments being its own; return its exit status."""
    if len(sys.argv) < 2 or sys.argv[1] not in SUBJECTS:
        print(f"usage: python -m tests.load {{{','.join(sorted(SUBJECTS))}}} …", file=sys.stderr)
        return 2
    return SUBJECTS[sys.argv[1]](sys.argv[2:]) or 0


if __name__ == "__main__":
    sys.exit(main())
