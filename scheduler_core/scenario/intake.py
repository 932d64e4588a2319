"""The documents of a bundle, each as what it is: an object, a configuration, a history, or without effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import force_setattr, replace

from scheduler_core.cluster.controllers.workloads import WorkloadChange
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import (
    SECRET_KINDS,
    Decoded,
    Originals,
    decode,
    find_kind,
    is_generated,
)
from scheduler_core.formats.duplicates import Replaced, applied, same_list
from scheduler_core.formats.helm import hook_message, hooks_of, is_passing_hook
from scheduler_core.formats.interner import SharedParts
from scheduler_core.formats.kindless import shown_kind
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.problems import LocatedMessage, problems_of, unknown_findings
from scheduler_core.formats.skipped_kinds import Skipped
from scheduler_core.kubernetes.device_versions import WITHDRAWN
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.kinds import KEPT_KINDS, KINDS, Kind, is_custom, is_manifest_kind
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Node, Workload, WrittenManifest
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report, show
from scheduler_core.scenario.config_maps import Contained, contained_in, owner_by_name
from scheduler_core.scenario.kueue import is_of_kueue
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.unhonored_fields import is_reported
from scheduler_core.schedulers.extenders.answers import ANSWERS_KIND
from scheduler_core.schedulers.kube_batch.document import (
    BATCH_CONFIGURATION,
    is_batch_configuration,
    other_scheduler,
)
from scheduler_core.schedulers.v1_11.policy.document import is_policy
from scheduler_core.schedulers.v1_22.configuration.document import is_scheduler_configuration
from scheduler_core.settings.descheduler import is_descheduler_policy
from scheduler_core.settings.release import release_of_kubelets
from scheduler_core.settings.settings import SETTINGS_KIND

WITHDRAWN_API = (
    "it is of the API for devices that Kubernetes 1.32 removed: write it as resource.k8s.io/v1, with devices"
)
FILES_NAMED = 3
KINDS_NAMED = 5
"""Kinds that one reason leaves out and that are reported one by one."""


class Intake:
    """The documents taken so far, by what they are; what is noteworthy about them is reported."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.namespaces: list[BundleEntry] = []
        self.decoded: list[Decoded] = []
        self.seen: dict[Key, int] = {}  # each object's index in ``decoded``
        self.before: dict[Key, Decoded] = {}  # originals of objects that a later document replaced
        self.positions: dict[Key, int] = {}  # each object's index in ``documents``
        self.documents: list[Document] = []
        self.shared = SharedParts()
        self.originals = Originals()
        self.summary: Counter[str] = Counter()
        self.ignored: dict[str, list[BundleEntry]] = {}
        self.kindless: list[BundleEntry] = []  # documents of a directory's files
        self.presumed_kinds: dict[str, list[BundleEntry]] = {}  # by what is said of them
        self.skipped: dict[tuple[str, str], list[BundleEntry]] = {}  # by kind and reason
        self.hooks: dict[tuple[str, str], list[BundleEntry]] = {}  # of a Helm release, by kind and annotation
        self.replaced: list[Replaced] = []
        self.policies: list[BundleEntry] = []
        self.configurations: list[BundleEntry] = []
        self.batches: list[BundleEntry] = []  # configuration files of kube-batch
        self.foreign: dict[str, list[BundleEntry]] = {}  # configurations of other schedulers, by scheduler
        self.contained: list[Contained] = []  # configurations in ConfigMaps
        self.deschedulers: list[BundleEntry] = []
        self.scenarios: list[BundleEntry] = []
        self.settings: list[BundleEntry] = []
        self.answers: list[BundleEntry] = []  # of extenders

    def take(self, entry: BundleEntry) -> None:
        """Classify one manifest: an object, a configuration, the history, a kept kind, or an ignored one."""
        self.shared.use(entry.value)
        replica = self.originals.replica(entry)
        if replica is not None and key_of(replica.object) not in self.seen:
            self.add(replica)
            return
        self._presume_kind(entry)
        if not entry.value.get("kind") and entry.source is not None and entry.source.is_one_of_many:
            self.kindless.append(entry)
            return
        noted = self.report.noted
        at = At(self.report, None, entry)
        if is_descheduler_policy(entry.value):
            self.deschedulers.append(entry)
        if self._has_contents(entry):
            self.keep(entry)
            return
        listed = self._list_of(entry, at)
        if listed is not None:
            listed.append(entry)
            self.keep(entry)
            return
        if entry.value.get("apiVersion") in WITHDRAWN:
            self.skipped.setdefault((entry.kind, WITHDRAWN_API), []).append(entry)
            return
        if isinstance(entry.value, Skipped):
            self.skipped.setdefault((entry.kind, entry.value.reason), []).append(entry)
            return
        if is_passing_hook(entry.value):
            self.documents.append(entry.value)
            self.hooks.setdefault((entry.kind, hooks_of(entry.value)), []).append(entry)
            return
        wrong = len(self.report.errors)
        row = find_kind(entry, at)
        if row is None:
            if len(self.report.errors) == wrong:  # otherwise its kind has been reported already
                self.ignore(entry)
            return
        read = decode(entry, row, self.report)
        if read is None:
            self.keep(entry)
            return
        key = key_of(read)
        earlier = self.seen.get(key)
        if earlier is not None and is_generated(entry.value):
            # Two files may each hold a pod of the same generateName, at the same position.
            read = decode(entry, row, self.report, salt=str(len(self.decoded))) or read
            key, earlier = key_of(read), None
        if earlier is None:
            decoded = Decoded(entry, read)
            self.add(decoded)
            if self.report.noted == noted and not is_generated(entry.value):
                self.originals.add(decoded)
            return
        self.supersede(key, earlier, entry, row)

    def _presume_kind(self, entry: BundleEntry) -> None:
        shown = shown_kind(entry.value)
        if shown is None:
            return
        kind, field = shown
        entry.value, entry.kind = {"apiVersion": "v1", "kind": kind, **entry.value}, kind
        self.presumed_kinds.setdefault(f"read as a {kind}, which alone has {field}", []).append(entry)

    def _has_contents(self, entry: BundleEntry) -> bool:
        """Note the configurations in a ConfigMap, and those of schedulers that are not simulated."""
        found = tuple(contained_in(entry))
        self.contained += found
        owner = (
            other_scheduler(entry.value)
            if is_batch_configuration(entry.value)
            else owner_by_name(entry.value)
        )
        if owner:
            entry.kind = entry.kind or f"configuration of {owner}"
            self.foreign.setdefault(owner, []).append(entry)
        return bool(found or owner)

    def _list_of(self, entry: BundleEntry, at: At) -> list[BundleEntry] | None:
        """Return the list of a configuration or history, ``None`` for any other document."""
        if is_policy(entry.value, at):
            return self.policies
        if is_batch_configuration(entry.value):
            entry.kind = entry.kind or BATCH_CONFIGURATION
            return self.batches
        if is_scheduler_configuration(entry.value, at):
            return self.configurations
        if entry.kind == SETTINGS_KIND:
            version = entry.value.get("apiVersion")
            if version not in (None, VERSIONS[SETTINGS_KIND]):
                text = f"{SETTINGS_KIND} have the apiVersion {VERSIONS[SETTINGS_KIND]}, not {show(version)}"
                at.child("apiVersion").error(text)
            return self.settings
        return {ANSWERS_KIND: self.answers, "Scenario": self.scenarios}.get(entry.kind)

    def add(self, decoded: Decoded) -> None:
        """Add a new object."""
        key = key_of(decoded.object)
        self.seen[key] = len(self.decoded)
        self.decoded.append(decoded)
        self.positions[key] = len(self.documents)
        self.keep(decoded.entry)

    def supersede(self, key: Key, place: int, entry: BundleEntry, row: Kind) -> None:
        """Replace an earlier document by a later one, as ``kubectl apply`` would."""
        first = self.decoded[place].entry
        if same_list(first, entry):
            self.replaced.append(Replaced(key, first, entry, (), is_error=True))
            return
        value, kept = applied(first.value, entry.value, key[0])
        merged = replace(entry, value=value)
        read = decode(merged, row, self.report)
        if read is not None:
            self.before.setdefault(key, self.decoded[place])
            self.decoded[place] = Decoded(merged, read)
            self.documents[self.positions[key]] = value
            self.replaced.append(Replaced(key, first, entry, kept))

    def write_down(self, changed: Iterable[WorkloadChange]) -> None:
        """Apply the controllers' initial changes of the cluster to the documents, so that they round-trip."""
        gone: set[int] = set()
        for action, obj in changed:
            place = self.positions.get(key_of(obj))
            if action == "delete":
                if place is not None:
                    gone.add(place)
            elif place is None:
                self.positions[key_of(obj)] = len(self.documents)
                self.documents.append(to_manifest(obj))
            elif isinstance(obj, Workload):
                document = self.documents[place]
                document = {**document, "spec": {**document["spec"], "replicas": obj.replicas}}
                self.documents[place] = document
                force_setattr(obj.meta, "written", WrittenManifest(document))
        self.documents = [one for place, one in enumerate(self.documents) if place not in gone]

    def keep(self, entry: BundleEntry) -> None:
        """Keep a document for export, and count it."""
        self.documents.append(entry.value)
        self.summary[entry.kind] += 1

    def ignore(self, entry: BundleEntry) -> None:
        """Keep a document of a kind that is not read, unless it is a secret."""
        if entry.kind not in SECRET_KINDS:
            self.documents.append(entry.value)
        if entry.kind == "Namespace":
            self.namespaces.append(entry)
            self.summary[entry.kind] += 1
        else:
            # A custom resource may have the name of a built-in kind.
            name = f"{entry.kind} of {entry.value.get('apiVersion')}" if entry.kind in KINDS else entry.kind
            self.ignored.setdefault(name, []).append(entry)

    @property
    def policy(self) -> Document | None:
        """Return the document that configures the scheduler, ``None`` for the default provider."""
        return next((entry.value for of in (self.policies, self.configurations) for entry in of), None)

    @property
    def kubelet_versions(self) -> Iterator[str]:
        """The versions of the nodes' kubelets."""
        nodes = (d.entry.value for d in self.decoded if isinstance(d.object, Node))
        infos = ((node.get("status") or {}).get("nodeInfo") for node in nodes)
        versions = (info.get("kubeletVersion") for info in infos if isinstance(info, Mapping))
        return (version for version in versions if isinstance(version, str))

    @property
    def kubelets(self) -> str:
        """Return the release that the nodes' kubelets suggest, "" if they suggest none."""
        return release_of_kubelets(self.kubelet_versions)

    def noteworthy(self, *, checked: bool) -> list[Problem]:
        """Return the warnings found while reading: fields and kinds without effect, in order.

        ``checked``: kinds that are read as manifests alone have been looked at.
        """
        found: list[LocatedMessage] = []
        unused: dict[str, dict[str, list[BundleEntry]]] = {}  # by reason and kind
        for kind, listed in self.ignored.items():
            read = checked and is_manifest_kind(listed[0].value)
            entries = [entry for entry in listed if not read and not is_reported(entry)]
            if entries:
                unused.setdefault(_reason(kind, entries), {})[kind] = entries
        for reason, kinds in unused.items():
            found += [(At(self.report, None, at).child("kind"), text) for at, text in _ignored(kinds, reason)]
        for (kind, reason), entries in self.skipped.items():
            found.append((At(self.report, None, entries[0]), _left_out(kind, reason, len(entries))))
        for (kind, hooks), entries in self.hooks.items():
            found.append((At(self.report, None, entries[0]), hook_message(kind, hooks, len(entries))))
        for text, entries in self.presumed_kinds.items():
            found.append((At(self.report, None, entries[0]), f"{_without_kind(len(entries))} {text}"))
        if self.kindless:
            found.append((At(self.report, None, self.kindless[0]), _no_manifests(self.kindless)))
        for owner, entries in self.foreign.items():
            found.append((At(self.report, None, entries[0]), _configures(owner, len(entries))))
        unread = (replace(problem, about=()) for problem in problems_of(found))
        others = problems_of([*unknown_findings(self.report), *self.report.warnings])
        return sorted((*unread, *others), key=Problem.place)


def _configures(owner: str, count: int) -> str:
    what = "the configuration" if count == 1 else f"{count:,} configurations"
    verb = "is" if count == 1 else "are"
    return f"{what} of {owner} {verb} left out: that scheduler is not simulated, and its pods wait for it"


def _without_kind(count: int) -> str:
    return "an object without kind is" if count == 1 else f"{count:,} objects without kind are"


def _no_manifests(entries: Sequence[BundleEntry]) -> str:
    names = list(dict.fromkeys(entry.source.name or "" for entry in entries if entry.source is not None))
    more = f" and {len(names) - FILES_NAMED:,} more" if len(names) > FILES_NAMED else ""
    return (
        f"{_without_kind(len(entries))} left out, as no manifest of Kubernetes has none "
        f"({', '.join(names[:FILES_NAMED])}{more}): values, patches or settings of a tool"
    )


def _left_out(kind: str, reason: str, count: int) -> str:
    what = f"{count} {kind} {'is' if count == 1 else 'are'} left out, and not kept for export: {reason}"
    return what if reason == WITHDRAWN_API else f"{what}; scheduling does not read this kind"


def _reason(kind: str, entries: Sequence[BundleEntry]) -> str:
    if kind in SECRET_KINDS:
        return "left out: scheduling does not read Secrets, and they should not be shared"
    if is_of_kueue(entries[0].value.get("apiVersion")):
        return "ignored: admission by Kueue is not simulated; kept for export"
    custom = is_custom(entries[0].value.get("apiVersion"))
    missing = ", and pods that its controller may create are missing" if custom else ""
    unread = f"scheduling does not read this kind{missing}"
    return f"ignored: {KEPT_KINDS.get(kind, unread)}; kept for export"


def _ignored(kinds: Mapping[str, Sequence[BundleEntry]], reason: str) -> Iterator[tuple[BundleEntry, str]]:
    """Yield the first document and the message for each kind, or for all of many with the same reason."""
    if len(kinds) > KINDS_NAMED:
        listed = ", ".join(f"{len(entries):,} {kind}" for kind, entries in kinds.items())
        many = reason.replace("this kind", "these kinds").replace("its controller", "their controllers")
        yield next(iter(kinds.values()))[0], f"objects of {len(kinds)} kinds ({listed}) are {many}"
        return
    for kind, entries in kinds.items():
        yield entries[0], f"{len(entries)} {kind} {'is' if len(entries) == 1 else 'are'} {reason}"
