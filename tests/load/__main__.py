"""``python -m tests.load SUBJECT …``: put the real server under load, and print what it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tests.load import measured, steps

Main = Callable[[Sequence[str]], object]

SUBJECTS: Mapping[str, Main] = {
    **{name: partial(measured.measure, name) for name in measured.SUBJECTS},
    "steps": steps.main,
}


def main() -> None:
    """Run the subject that is named first; the other arguments are its own."""
    if len(sys.argv) < 2 or sys.argv[1] not in SUBJECTS:
        sys.exit(f"usage: python -m tests.load {{{','.join(sorted(SUBJECTS))}}} …")
    SUBJECTS[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
