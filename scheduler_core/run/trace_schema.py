"""The JSON Schema of a trace's line, generated from its types.

docs/trace.schema.json is what ``python -m scheduler_core.run.trace_schema`` prints; a test compares them.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any, get_args

from scheduler_core.kubernetes.plain import schemas
from scheduler_core.run.trace import LINE
from scheduler_core.run.trace_line import CACHES
from scheduler_core.schedulers.kube_batch.record import Step


@cache
def schema() -> dict[str, Any]:
    """Return the schema of a line."""
    parts = schemas((LINE, *CACHES), "#/$defs/{name}")
    steps = {step.__name__ for step in get_args(Step)}  # of a session, whose docstrings describe them
    for name, part in parts.items():
        if name not in steps:
            part.pop("description", None)  # the docstring, which is about the Python type
        part["additionalProperties"] = False
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://podstep.dev/trace.schema.json",
        **parts.pop(LINE.__name__),
        "title": "A scheduling cycle",
        "description": "One line of a trace: everything that one attempt to schedule a pod read, found and "
        "decided.",
        "$defs": parts,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
