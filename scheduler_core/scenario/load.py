"""Read a bundle in any of the formats into a :class:`Scenario`, reporting all problems at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from msgspec.structs import replace

from scheduler_core.formats.bundle import Bundle, File, read_files
from scheduler_core.formats.kwok import read_kwok
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.openb import read_tables
from scheduler_core.formats.recorder import read_recorder
from scheduler_core.formats.simkube import read_simkube
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.history_entries import with_entries
from scheduler_core.scenario.load_passes import scenario_of
from scheduler_core.scenario.load_state import DEFAULTS, LoadState, Options
from scheduler_core.scenario.omissions import spare
from scheduler_core.scenario.operation_reader import entry_of
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.table import TYPED
from scheduler_core.settings.descheduler import DESCHEDULE

_READ_FIRST = (*VERSIONS, DESCHEDULE, "schedulerName")
"""What an operation cannot name without being read together with the cluster."""
MOST_ROUNDS = 12  # of reading a directory again without what is wrong in it


def load(
    bundle: str | bytes | Sequence[File],
    *,
    times: Literal["keep", "ignore"] = "keep",
    **options: Unpack[Options],
) -> Scenario:
    """Read a bundle: one text or archive, or a list of (file name, content) and directories.

    ``times`` determines whether a CSV trace's times become operations of the scenario or are ignored (every
    pod is pending from the start, in order of creation); the other arguments are those of :class:`Options`.
    Raises BundleError with all errors.
    """
    options = {**DEFAULTS, **options}
    limits = options["limits"]
    files: list[File] = [("", bundle)] if isinstance(bundle, (str, bytes)) else list(bundle)
    read = read_files(files, limits, options["watch"])
    read_tables(read, limits, keep_times=times == "keep")
    read_kwok(read, limits)
    read_recorder(read, limits)
    read_simkube(read, limits)
    return _load_what_can_be_read(read, options)


def _load_what_can_be_read(bundle: Bundle, options: Options) -> Scenario:
    """Read a bundle; what is wrong in a file of a directory or an archive is left out with a warning.

    Raises BundleError if a file that was passed by itself, or a configuration, has an error, and if nothing
    would be left.
    """
    left: list[Problem] = []
    for _ in range(MOST_ROUNDS):
        state = LoadState(bundle, options)
        state.left = left
        try:
            return scenario_of(state)
        except BundleError:
            spared = spare(bundle, state.report.errors)
            if not spared:
                raise
            left = [*left, *spared]
    return scenario_of(LoadState(bundle, options))


def load_documents(documents: Iterable[Mapping[str, Any]], **options: Unpack[Options]) -> Scenario:
    """Read parsed manifests. Like :func:`load`, but problems have a document number and no line."""
    return scenario_of(LoadState(_bundle_of(documents), options))


def _bundle_of(documents: Iterable[Mapping[str, Any]]) -> Bundle:
    bundle = Bundle()
    bundle.entries += (entry_of(value, number) for number, value in enumerate(documents, 1))
    return bundle


class ExtensibleScenario:
    """A living scenario, and further operations on it, which are read without its other documents.

    Raises:
        BundleError: It cannot be read with controllers.
    """

    def __init__(self, scenario: Scenario, *, limits: Limits | None = None, watch: Watch = unwatched) -> None:
        settings = scenario.settings
        options = Options(
            title=scenario.title,
            limits=limits or Limits(pods=scenario.most_pods),
            watch=watch,
            scheduler=settings.scheduler,
            presumed=scenario.presumed,
            only_v1_11=settings.names_v1_11,
            feature_gates=dict(settings.feature_gates),
            living=True,
        )
        state = LoadState(_bundle_of(scenario.documents), options, extensible=True)
        self.scenario = scenario_of(state).under(scenario.policy, settings)
        self._policy, self._settings, self._before = scenario.policy, settings, state.before_operations

    def extended(self, entries: Sequence[dict[str, Any]]) -> Scenario:
        """Return the scenario with further entries of a Scenario document.

        Its warnings are those of the scenario, and what is found in the operations.

        Raises:
            BundleError: An operation cannot be read.
        """
        own = self.scenario
        documents = with_entries(own.documents, entries)
        if any(name in str(entry) for entry in entries for name in _READ_FIRST):
            return ExtensibleScenario(replace(own, documents=tuple(documents))).scenario
        assert self._before is not None
        return self._before.with_history(own, documents).under(self._policy, self._settings)


def read_text(text: str, *, scheduler: str = "", feature_gates: Mapping[str, bool] | None = None) -> Scenario:
    """Read a text for its documents alone. Raises what :func:`load` raises."""
    gates = feature_gates
    return load(text, expand=False, admission=False, presumed=TYPED, scheduler=scheduler, feature_gates=gates)


def read_objects(
    manifests: Iterable[Mapping[str, Any]], *, admission: bool = False
) -> tuple[KubernetesObject, ...]:
    """Return the objects of manifests as they are written. Raises what :func:`load` raises."""
    return load_documents(manifests, expand=False, admission=admission, presumed=TYPED).objects
