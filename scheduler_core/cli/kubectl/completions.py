"""``kubectl_complete-podstep``: what kubectl offers for the next word of ``kubectl podstep``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

NAMES = {"why": "pods", "drain": "nodes"}
"""The resource whose names a verb takes."""
NO_FILES = ":4"
"""ShellCompDirectiveNoFileComp of cobra, whose protocol kubectl speaks."""
SECONDS = 3


def console() -> None:
    """Print a candidate a line, and the directive."""
    print(*candidates(sys.argv[1:]), NO_FILES, sep="\n")


def candidates(words: Sequence[str]) -> Iterator[str]:
    """Yield what the last word may become: a verb, or the name of a pod or node."""
    *before, begun = words or [""]
    if not before:
        from scheduler_core.cli.kubectl.plugin import VERBS

        offered = [f"{name}\t{verb.help}" for name, verb in VERBS.items()]
    else:
        offered = _names(NAMES.get(before[0], ""), [word for word in before if word.startswith("-")])
    return (one for one in offered if one.startswith(begun))


def _names(resource: str, flags: Sequence[str]) -> list[str]:
    """Return the names of a resource; none where kubectl does not answer at once."""
    if not resource:
        return []
    chosen = [flag for flag in flags if "=" in flag and flag.startswith("--")]
    program = os.environ.get("KUBECTL", "kubectl")
    command = [program, "get", resource, "--output=name", f"--request-timeout={SECONDS}s", *chosen]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.partition("/")[2] for line in done.stdout.splitlines()]
