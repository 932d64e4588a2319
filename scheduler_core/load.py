"""Read a bundle: text in any of the formats to a :class:`Scenario`, with all problems at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from scheduler_core.assembly import Assembly
from scheduler_core.configuration import CONFIGURATION_KIND
from scheduler_core.configuration_document import check_configuration, is_scheduler_configuration
from scheduler_core.formats.bundle import Bundle, Entry, read_files
from scheduler_core.formats.decode import SECRET_KINDS, Decoded, decode, find_kind
from scheduler_core.formats.kwok import read_kwok
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.openb import read_tables
from scheduler_core.formats.recorder import read_recorder
from scheduler_core.objects.kinds import KEPT_KINDS, KINDS
from scheduler_core.objects.model import KubernetesObject
from scheduler_core.objects.reading import At, Report, path_text, show
from scheduler_core.operations import has_controllers, read_operations, turns_virtual
from scheduler_core.policy_document import check_policy, is_policy
from scheduler_core.problems import Finding, format_problem, problems_of, unknown_findings
from scheduler_core.reconfiguration import VERSIONS, Reconfiguration
from scheduler_core.references import check_references
from scheduler_core.scenario import BundleError, Document, Operation, Problem, Scenario
from scheduler_core.settings import DEFAULT_SETTINGS, SETTINGS_KIND, Settings, read_settings
from scheduler_core.workloads import Key, key_of

DEFAULT_LIMITS = Limits()


def load(
    bundle: str | bytes | Sequence[tuple[str, str | bytes]],
    *,
    title: str = "",
    expand: bool = True,
    admission: bool = True,
    times: Literal["keep", "ignore"] = "keep",
    limits: Limits = DEFAULT_LIMITS,
) -> Scenario:
    """Read a bundle: one text, or a list of (file name, content).

    ``admission`` does what the API server would have done to each object; ``expand`` turns
    controllers into pods. ``times`` says what becomes of a CSV trace's times: operations of the
    scenario, or nothing (every pod is pending from the start, in order of creation). Raises
    BundleError, which holds everything that is wrong.
    """
    files = [("", bundle)] if isinstance(bundle, (str, bytes)) else list(bundle)
    read = read_files(files, limits)
    read_tables(read, limits, keep_times=times == "keep")
    read_kwok(read, limits)
    read_recorder(read, limits)
    return _Loading(title, limits, expand=expand, admission=admission).run(read)


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
    return _Loading(title, limits, expand=expand, admission=admission).run(bundle)


class _Loading:
    """One bundle on its way to a Scenario: what was read so far, and what was found."""

    def __init__(self, title: str, limits: Limits, *, expand: bool, admission: bool) -> None:
        self.title = title
        self.limits = limits
        self.report = Report(strict=admission, limit=limits.problems)
        self.assembly = Assembly(self.report, limits, expand=expand, admission=admission)
        self.errors: list[Problem] = []
        self.decoded: list[Decoded] = []
        self.seen: dict[Key, At] = {}
        self.documents: list[Document] = []
        self.summary: Counter[str] = Counter()
        self.ignored: dict[str, list[Entry]] = {}
        self.policies: list[Entry] = []
        self.configurations: list[Entry] = []
        self.scenarios: list[Entry] = []
        self.settings: list[Entry] = []

    def run(self, bundle: Bundle) -> Scenario:
        """Take the bundle's manifests one by one, then put the cluster together."""
        self.errors += [format_problem(source, error) for source, error in bundle.errors]
        for source, warning in bundle.warnings:
            At(self.report, None, Entry({}, source=source)).warn(warning)
        for place, note in bundle.notes:
            At(self.report, None, place).warn(note)
        for entry in bundle.entries:
            self.take(entry)
        for several, kind in (
            (self.policies, "Policy"),
            (self.configurations, CONFIGURATION_KIND),
            (self.scenarios, "Scenario"),
            (self.settings, SETTINGS_KIND),
        ):
            for entry in several[1:]:
                At(self.report, None, entry).child("kind").error(f"a second {kind}: a bundle has one at most")
        if self.policies and self.configurations:
            told = f"a {CONFIGURATION_KIND} and a Policy both say what the scheduler runs: keep one of them"
            At(self.report, None, self.configurations[0]).child("kind").error(told)
        settings = DEFAULT_SETTINGS
        for entry in self.settings[:1]:
            settings = read_settings(entry.value, At(self.report, None, entry))
        for entry in self.policies[:1]:
            check_policy(entry.value, settings, At(self.report, None, entry))
        for entry in self.configurations[:1]:
            check_configuration(entry.value, settings, At(self.report, None, entry))
        self.refuse_if_wrong()
        controllers = all(has_controllers(entry.value) for entry in self.scenarios)
        if not controllers:
            self.assembly.expand, self.assembly.recorded = False, True
        self.assembly.timed = self.is_timed(settings)
        objects = self.assembly.build(self.decoded)
        self.refuse_if_wrong()
        if self.assembly.admitting:
            check_references(objects, self.assembly.places, self.assembly.notices)
        operations = self.operations(settings)
        self.refuse_if_wrong()
        self.assembly.notices.flush()
        return Scenario(
            title=self.title,
            documents=tuple(self.documents),
            objects=tuple(objects),
            operations=operations,
            policy=self.policy,
            settings=settings,
            warnings=tuple(self.warnings(objects, bundle)),
            summary=dict(self.summary),
            controllers=controllers,
        )

    @property
    def policy(self) -> Document | None:
        """Return what configures the scheduler, ``None`` for the default provider."""
        return next((entry.value for of in (self.policies, self.configurations) for entry in of), None)

    def take(self, entry: Entry) -> None:
        """Sort one manifest: an object, a configuration, the history, a kept kind, or an ignored one."""
        at = At(self.report, None, entry)
        if is_policy(entry.value, at):
            self.policies.append(entry)
            self.keep(entry)
            return
        if is_scheduler_configuration(entry.value, at):
            self.configurations.append(entry)
            self.keep(entry)
            return
        if entry.kind in ("Scenario", SETTINGS_KIND):
            version = entry.value.get("apiVersion")
            if entry.kind == SETTINGS_KIND and version not in (None, VERSIONS[SETTINGS_KIND]):
                told = f"{SETTINGS_KIND} have the apiVersion {VERSIONS[SETTINGS_KIND]}, not {show(version)}"
                at.child("apiVersion").error(told)
            (self.scenarios if entry.kind == "Scenario" else self.settings).append(entry)
            self.keep(entry)
            return
        wrong = len(self.report.errors)
        row = find_kind(entry, at)
        if row is None:
            if len(self.report.errors) == wrong:  # else it is told already what is wrong with its kind
                self.ignore(entry)
            return
        self.keep(entry)
        read = decode(entry, row, self.report)
        if read is not None:
            self.take_object(Decoded(entry, read), at)

    def take_object(self, decoded: Decoded, at: At) -> None:
        key = key_of(decoded.object)
        if key in self.seen and decoded.object.meta.name:
            first = self.seen[key]
            place = path_text((*first.root.prefix, *first.steps))
            where = f"document {first.root.number}" + (f", {place}" if place else "")
            at.child("metadata").child("name").error(
                f"{key[0]} {key[1]} stands twice: the first is in {where}"
            )
            return
        self.seen[key] = at
        self.decoded.append(decoded)

    def keep(self, entry: Entry) -> None:
        self.documents.append(entry.value)
        self.summary[entry.kind] += 1

    def ignore(self, entry: Entry) -> None:
        if entry.kind not in SECRET_KINDS:
            self.documents.append(entry.value)
        if entry.kind == "Namespace":
            self.summary[entry.kind] += 1
        else:
            # A custom resource may be called like one of Kubernetes' own kinds.
            name = f"{entry.kind} of {entry.value.get('apiVersion')}" if entry.kind in KINDS else entry.kind
            self.ignored.setdefault(name, []).append(entry)

    def operations(self, settings: Settings) -> tuple[Operation, ...]:
        if not self.scenarios:
            return ()
        sources = {key_of(d.object): d.entry.value for d in self.decoded}
        given = next((entry.value for entry in self.settings), None)
        configuration = Reconfiguration(self.policy, given, settings)
        return read_operations(self.scenarios[0], self.assembly, sources, configuration)

    def is_timed(self, settings: Settings) -> bool:
        """Tell whether time runs, from the beginning or once an operation lets it."""
        if settings.time == "virtual" or self.configurations:
            return True
        return any(turns_virtual(entry.value) for entry in self.scenarios[:1])

    def refuse_if_wrong(self) -> None:
        """Raise all errors, if there are any."""
        problems = [*self.errors, *problems_of(self.report.errors)]
        if not problems:
            return
        problems.sort(key=_place)
        if self.report.unlisted:
            problems.append(Problem(f"and {self.report.unlisted:,} more problems of the same input"))
        raise BundleError(problems, self.noteworthy())

    def noteworthy(self) -> list[Problem]:
        """Return what was found while reading: fields and kinds without effect."""
        found: list[Finding] = []
        for kind, entries in self.ignored.items():
            found.append((At(self.report, None, entries[0]).child("kind"), _ignored(kind, len(entries))))
        found += [*unknown_findings(self.report), *self.report.warnings]
        return sorted(problems_of(found), key=_place)

    def warnings(self, objects: list[KubernetesObject], bundle: Bundle) -> list[Problem]:
        """Return what the user should know of a bundle that can be used."""
        out = self.noteworthy()
        if not any(key[0] == "Node" for key in map(key_of, objects)) and bundle.entries:
            text = (
                "there is no Node in it: no pod can be scheduled; add what `kubectl get nodes -o yaml` prints"
            )
            out.append(Problem(text))
        if self.report.unlisted:
            out.append(Problem(f"and {self.report.unlisted:,} more warnings"))
        return out


def _place(problem: Problem) -> tuple[str, int, int]:
    """Order problems as the text is read; those without a place come first."""
    return problem.file or "", problem.document or 0, problem.line or 0


def _ignored(kind: str, count: int) -> str:
    what = f"{count} {kind} {'is' if count == 1 else 'are'}"
    if kind in SECRET_KINDS:
        return f"{what} left out altogether: secrets have no bearing on scheduling and should not be shared"
    reason = KEPT_KINDS.get(kind, "scheduling does not read this kind")
    return f"{what} ignored: {reason}; kept for export"
