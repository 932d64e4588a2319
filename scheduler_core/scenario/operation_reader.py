"""The cluster before the operations of a history, and what else these are read with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.problems import problems_of, unknown_findings
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import Report
from scheduler_core.scenario.assembly import Assembly
from scheduler_core.scenario.history_entries import SCENARIO_KIND
from scheduler_core.scenario.operations import read_operations
from scheduler_core.scenario.reconfiguration import Reconfiguration
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.scenario.unhonored_fields import found_in
from scheduler_core.settings.settings import Settings


class OperationReader(NamedTuple):
    """A cluster and what else its operations are read with."""

    assembly: Assembly
    sources: dict[Key, dict[str, Any]]
    policy: Document | None
    written: Any
    settings: Settings
    release: str
    unread: Sequence[BundleEntry]
    untyped: Sequence[Document] | None

    def forked(self, report: Report) -> OperationReader:
        """Return a copy of the cluster, about which is reported elsewhere."""
        return self._replace(assembly=self.assembly.forked(report))

    def read(self, history: BundleEntry) -> tuple[Operation, ...]:
        """Resolve the operations of a Scenario document; they change the cluster."""
        configuration = Reconfiguration(self.policy, self.written, self.settings, self.release)
        return read_operations(history, self.assembly, self.sources, configuration, self.unread, self.untyped)

    def with_history(self, scenario: Scenario, documents: Sequence[Document]) -> Scenario:
        """Return the scenario with another history of the same cluster. Raises BundleError."""
        mine = self.assembly.report
        report = Report(strict=mine.strict, limit=mine.limit)
        before = self.forked(report)
        number, history = next(
            (number, one) for number, one in enumerate(documents, 1) if one.get("kind") == SCENARIO_KIND
        )
        operations = before.read(entry_of(history, number))
        before.assembly.notices.flush()
        if report.errors:
            raise BundleError(sorted(problems_of(report.errors), key=Problem.place))
        later = [one.object for one in operations if one.object is not None]
        known = {one.problem.unhonored for one in scenario.unhonored}
        found = found_in(report, before.assembly.ignored, later)
        warnings = problems_of([*unknown_findings(report), *report.warnings])
        return replace(
            scenario,
            documents=tuple(documents),
            operations=operations,
            summary={**(scenario.summary or {}), SCENARIO_KIND: 1},
            unhonored=(*scenario.unhonored, *(one for one in found if one.problem.unhonored not in known)),
            warnings=tuple(sorted({*scenario.warnings, *warnings}, key=Problem.place)),
        )


def entry_of(document: Mapping[str, Any], number: int) -> BundleEntry:
    """Return a parsed document as the entry of a bundle without lines."""
    kind = document.get("kind")
    return BundleEntry(dict(document), kind if isinstance(kind, str) else "", None, number)
