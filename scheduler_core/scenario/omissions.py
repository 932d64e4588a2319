"""Files of a directory or an archive that cannot be read: left out by name, and the others are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from scheduler_core.formats.bundle import Bundle, BundleEntry, SourceText
from scheduler_core.formats.helm import blame_templates
from scheduler_core.formats.problems import LocatedMessage, format_problem, problems_of
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import Steps
from scheduler_core.schedulers.extenders.answers import ANSWERS_KIND
from scheduler_core.schedulers.kube_batch.document import BATCH_CONFIGURATION
from scheduler_core.settings.release import CONFIGURATION_KIND
from scheduler_core.settings.settings import SETTINGS_KIND

REQUIRED = frozenset(
    {SETTINGS_KIND, "Scenario", ANSWERS_KIND, CONFIGURATION_KIND, "Policy", BATCH_CONFIGURATION}
)
"""Kinds that decide how everything else is scheduled: without them the answer would be another."""


def spare(bundle: Bundle, findings: Sequence[LocatedMessage]) -> list[Problem]:
    """Take what is wrong in files of directories out of a bundle; return the warnings about it.

    ``findings`` are the errors in its documents. Nothing is taken out, and nothing returned, if there is an
    error elsewhere or no object would be left.
    """
    wrong = {_place(entry): entry for entry in (at.root for at, _ in findings)}
    left = [entry for entry in bundle.entries if _place(entry) not in wrong]
    sources = [source for source, _ in bundle.errors]
    may_go = all(map(_may_go, wrong.values())) and all(one and one.is_one_of_many for one in sources)
    if not may_go or not any(entry.kind in KINDS for entry in left):
        return []
    problems = [*(format_problem(*each) for each in bundle.errors), *problems_of(findings)]
    known: Mapping[str | None, SourceText] = {one.name: one for one in bundle.sources()}
    bundle.entries, bundle.errors = left, []
    return list(_summarized(blame_templates(problems, known)))


def _place(entry: BundleEntry) -> tuple[int, int | None, Steps]:
    """Return where a document is: one that took the place of an earlier one is another entry."""
    return id(entry.source), entry.number, entry.prefix


def _may_go(entry: BundleEntry) -> bool:
    source = entry.source
    return source is not None and source.is_one_of_many and entry.kind not in REQUIRED


def _summarized(problems: Iterable[Problem]) -> Iterable[Problem]:
    """Yield one warning for equal errors, with the place of the first."""
    alike: dict[str, list[Problem]] = {}
    for problem in sorted(problems, key=Problem.place):
        alike.setdefault(problem.message, []).append(problem)
    for message, found in alike.items():
        more = f" (and {len(found) - 1:,} more like it)" if len(found) > 1 else ""
        yield replace(found[0], message=f"left out{more}: {message}", about=None)
