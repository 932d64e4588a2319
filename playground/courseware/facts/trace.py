"""Any part of a cycle's line of the trace, which docs/trace.schema.json describes, and of the manifests."""

from __future__ import annotations

from typing import Any

import msgspec

from playground.courseware.edits import documents
from playground.courseware.expression import FactError, NotYetKnownError
from playground.courseware.facts.moment import ShownMoment
from playground.courseware.facts.paths import inside
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.run.trace import trace_line


def trace(moment: ShownMoment, path: str, at: str = "", of: str = "") -> Any:
    """A value of a cycle's trace line, ``session.steps[2].share``; ``[job=a]`` finds one, ``#`` counts."""
    if moment.open_question:
        raise NotYetKnownError("a cycle's record is not shown yet at this stop")
    return inside(msgspec.json.decode(trace_line(moment.cycle(at, of))), path)


def written(moment: ShownMoment, name: str, path: str, of: str = "") -> Any:
    """A field of a manifest, ``written("Pod/web", "spec.priority")``."""
    whole = documents(moment.play(of).text)
    if name not in whole:
        raise FactError(
            f"there is no {name!r}{did_you_mean(name, whole) or ': there are ' + ', '.join(whole)}"
        )
    return inside(whole[name], path)


FACTS = (trace, written)
