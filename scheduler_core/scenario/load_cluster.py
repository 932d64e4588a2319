"""The passes that make the cluster, its history and the scenario."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from msgspec.structs import replace

from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.scenario import cron_jobs
from scheduler_core.scenario.dump import missing_pods
from scheduler_core.scenario.extender_answers import (
    ASKING,
    warn_of_configuration,
    warn_of_later,
    warn_of_strangers,
)
from scheduler_core.scenario.kueue import waits_for_kueue
from scheduler_core.scenario.load_state import LoadState
from scheduler_core.scenario.operation_reader import OperationReader
from scheduler_core.scenario.references import check_references
from scheduler_core.scenario.running_dump import assumptions, dumped_objects
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.scenario.shared_gpus import ON_ONE_GPU, shares_devices
from scheduler_core.scenario.unhonored_fields import Unhonored, found_in
from scheduler_core.schedulers.extenders.answers import read_answers
from scheduler_core.schedulers.kube_batch.document import (
    BATCH_SCHEDULER,
)
from scheduler_core.settings.release import (
    CONFIGURATION_KIND,
    release_of_nodes,
    row_of,
)

NO_NODES = "it contains no Node, so no pod can be scheduled: add the output of `kubectl get nodes -o yaml`"


def take_dump(state: LoadState) -> None:
    """Let controllers start from what a dump has, and note what they have to assume."""
    settings = state.chosen
    objects = dumped_objects(state.documents, said=settings.dump is not None) if state.plane else None
    if objects is None:
        return
    state.assembly.expand = False
    state.ignored.pop("ControllerRevision", None)
    if settings.dump is None or not settings.dump.complete:
        state.assumed = tuple(assumptions(objects))


def take_cron_jobs(state: LoadState) -> None:
    """Take the CronJobs where controllers run."""
    state.crons = cron_jobs.taken(state.ignored, state.report) if state.plane else ()


def take_queues(state: LoadState) -> None:
    """Take Kueue's objects where controllers run."""
    if state.plane and state.queues:
        from scheduler_core.scenario.kueue_objects import taken  # most bundles have no queues

        state.kueue = taken(state.ignored, state.namespaces, state.report)


def assemble(state: LoadState) -> None:
    """Make the initial cluster: admission, and pods of workloads."""
    assembly, row = state.assembly, state.row
    assembly.timed = row.is_timed
    assembly.checks = state.checks()
    assembly.world.daemons_pending = row.daemons_pending
    state.objects = assembly.build(state.decoded, state.before)


def check_assembled(state: LoadState) -> None:
    """Write the controllers' changes into the documents, and check what refers to other objects."""
    state.write_down(state.assembly.changed)
    if state.assembly.admitting:
        check_references(state.objects, state.assembly.places, state.assembly.notices)


def read_history(state: LoadState) -> None:
    """Resolve the operations, which change the cluster."""
    queued = () if state.kueue is None else state.kueue.documents
    reader = OperationReader(
        state.assembly,
        {key_of(d.object): d.entry.value for d in state.decoded},
        state.policy,
        next((entry.value for entry in state.settings), None),
        state.chosen,
        state.release,
        tuple(state.unread()),
        (*state.crons, *queued) if state.plane else None,
    )
    if state.extensible:
        state.before_operations = reader.forked(Report(strict=state.report.strict, limit=state.report.limit))
    state.operations = reader.read(state.scenarios[0]) if state.scenarios else ()


def read_extender_answers(state: LoadState) -> None:
    """Read the answers of extenders, and report what they and the configurations lack of each other."""
    later = (operation.configuration for operation in state.operations)
    configurations = (state.configuration, *(one for one in later if one is not None))
    release = state.release
    if configurations[0].is_for_peers and row_of(configurations[0].read_by).asks_beside:
        release = configurations[0].read_by
    places = [At(state.report, None, entry) for entry in state.answers]
    read = [read_answers(entry.value, at) for entry, at in zip(state.answers, places)]
    answers = state.answers_read = tuple(chain.from_iterable(read))
    state.refuse_if_wrong()
    asks = release in ASKING
    if not asks:
        for at in places:
            at.child("kind").warn(f"{release} is simulated without extenders: the answers have no effect")
    reads = row_of(release).reads == CONFIGURATION_KIND
    for entry in (*state.policies[:1], *(state.configurations[:1] if asks and reads else ())):
        warn_of_configuration(entry.value, answers, At(state.report, None, entry), release)
    initial, *others = (one.extenders for one in configurations)
    brought = [extender for found in others for extender in found if extender not in initial]
    if asks:
        for at, found in zip(places, read):
            warn_of_strangers((*initial, *brought), found, at.child("extenders"))
        for entry in state.scenarios[:1]:
            warn_of_later(brought, answers, At(state.report, None, entry))


def finish(state: LoadState) -> None:
    """Make the scenario."""
    state.assembly.notices.flush()
    scenario = Scenario(
        title=state.options["title"],
        documents=tuple(state.documents),
        objects=tuple(state.objects),
        operations=state.operations,
        policy=state.policy,
        settings=state.chosen,
        configuration=state.configuration,
        warnings=tuple(_warnings(state)),
        summary=dict(state.summary),
        controllers=state.with_controllers,
        most_pods=state.limits.pods,
        schedulers={BATCH_SCHEDULER: state.batch} if state.batch else {},
        unhonored=_unhonored(state),
        kubelets=state.kubelets,
        of_nodes=release_of_nodes(state.kubelet_versions),
        presumed=state.options["presumed"],
        asks_batch=state.asks_batch,
        custom=state.named if state.timed or state.chosen.schedulers else frozenset(),
        answers=state.answers_read,
        descheduler=state.descheduler,
        cron_jobs=state.crons,
        kueue=state.kueue,
        lives=state.lives,
    )
    state.scenario = replace(scenario, warnings=scenario.warned())


def _given(state: LoadState) -> Iterable[KubernetesObject]:
    """Yield the objects that operations bring."""
    return (operation.object for operation in state.operations if operation.object is not None)


def _unhonored(state: LoadState) -> tuple[Unhonored, ...]:
    """Return the warnings for the fields and kinds in use that other clusters may honor."""
    ignored = [*chain.from_iterable(state.ignored.values()), *state.assembly.ignored]
    return found_in(state.report, ignored, chain(state.objects, _given(state)))


def _warnings(state: LoadState) -> Sequence[Problem]:
    """Return the warnings about a valid bundle."""
    found = [*state.left, *state.noteworthy(checked=bool(state.assembly.checks))]
    out = sorted(found, key=Problem.place)
    objects = [*state.objects, *_given(state)]
    if not any(key[0] == "Node" for key in map(key_of, objects)) and state.bundle.entries:
        out.append(Problem(NO_NODES))
    unread, held = chain.from_iterable(state.ignored.values()), state.kueue is not None
    out += waits_for_kueue(state.decoded, unread, state.report, is_simulated=held)
    if shares_devices(objects):
        out.append(ON_ONE_GPU)
    if not state.assembly.recorded:  # else its operations create the pods
        out += missing_pods(state.documents)
    out += state.assumed
    if state.report.unlisted:
        out.append(Problem(f"and {state.report.unlisted:,} more warnings"))
    return out
