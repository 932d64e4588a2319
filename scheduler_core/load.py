"""Read a bundle: text in any of the formats to a :class:`Scenario`, with all problems at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.formats.bundle import Bundle, Entry, read_files
from scheduler_core.formats.decode import SECRET_KINDS, Decoded, decode, find_kind
from scheduler_core.formats.limits import Limits
from scheduler_core.objects.kinds import KEPT_KINDS
from scheduler_core.objects.reading import At, Report
from scheduler_core.problems import Finding, format_problem, problems_of, unknown_findings
from scheduler_core.scenario import BundleError, Document, Problem, Scenario

DEFAULT_LIMITS = Limits()


def load(
    bundle: str | bytes | Sequence[tuple[str, str | bytes]],
    *,
    title: str = "",
    expand: bool = True,
    admission: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Scenario:
    """Read a bundle: one text, or a list of (file name, content).

    ``admission`` does what the API server would have done to each object; ``expand`` turns
    controllers into pods. Raises BundleError, which holds everything that is wrong.
    """
    files = [("", bundle)] if isinstance(bundle, (str, bytes)) else list(bundle)
    return _Loading(title, expand, admission, limits).run(read_files(files, limits))


def load_documents(
    documents: Iterable[Mapping[str, Any]],
    *,
    title: str = "",
    expand: bool = True,
    admission: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Scenario:
    """Read manifests that are parsed already. As :func:`load`; problems have a document number, no line."""
    bundle = Bundle()
    for number, value in enumerate(documents, 1):
        kind = value.get("kind")
        bundle.entries.append(Entry(dict(value), kind if isinstance(kind, str) else "", None, number))
    return _Loading(title, expand, admission, limits).run(bundle)


class _Loading:
    """One bundle on its way to a Scenario: what was read so far, and what was found."""

    def __init__(self, title: str, expand: bool, admission: bool, limits: Limits) -> None:
        self.title = title
        self.expand = expand
        self.admission = admission
        self.limits = limits
        self.report = Report(strict=admission, limit=limits.problems)
        self.errors: list[Problem] = []
        self.decoded: list[Decoded] = []
        self.documents: list[Document] = []
        self.summary: Counter[str] = Counter()
        self.ignored: dict[str, tuple[int, Entry]] = {}
        self.policy: Entry | None = None

    def run(self, bundle: Bundle) -> Scenario:
        self.errors += [format_problem(source, error) for source, error in bundle.errors]
        for entry in bundle.entries:
            self.take(entry)
        self.refuse_if_wrong()
        warnings: list[Finding] = [*unknown_findings(self.report), *self.report.warnings]
        return Scenario(
            title=self.title,
            documents=tuple(self.documents),
            objects=tuple(d.object for d in self.decoded),
            policy=self.policy.value if self.policy else None,
            warnings=tuple(problems_of(warnings)),
            summary=dict(self.summary),
        )

    def take(self, entry: Entry) -> None:
        """Sort one manifest: an object, a configuration, a kept kind, or an ignored one."""
        if entry.kind == "Policy" and str(entry.value.get("apiVersion", "v1")) == "v1":
            self.policy = entry
            self.keep(entry)
            return
        at = At(self.report, None, entry)
        row = find_kind(entry, at)
        if row is None:
            self.ignore(entry)
            return
        self.keep(entry)
        read = decode(entry, row, self.report)
        if read is not None:
            self.decoded.append(Decoded(entry, read))

    def keep(self, entry: Entry) -> None:
        self.documents.append(entry.value)
        self.summary[entry.kind] += 1

    def ignore(self, entry: Entry) -> None:
        if entry.kind not in SECRET_KINDS:
            self.documents.append(entry.value)
        if entry.kind == "Namespace":
            self.summary[entry.kind] += 1
            return
        count, first = self.ignored.get(entry.kind, (0, entry))
        self.ignored[entry.kind] = (count + 1, first)

    def refuse_if_wrong(self) -> None:
        errors = [*self.errors, *problems_of(self.report.errors)]
        if errors:
            raise BundleError(errors)


__all__ = ["KEPT_KINDS", "load", "load_documents"]
