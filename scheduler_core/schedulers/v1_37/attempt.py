"""One attempt to place one pod (schedulePod), and what follows it: reserve, bind, PostFilter, failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from scheduler_core.schedulers.extenders.calls import ExtenderError
from scheduler_core.schedulers.v1_37 import claim_binder
from scheduler_core.schedulers.v1_37.change import ObjectWrite
from scheduler_core.schedulers.v1_37.class_results import Chosen
from scheduler_core.schedulers.v1_37.class_walks import ClassWalks
from scheduler_core.schedulers.v1_37.extender_calls import (
    EXTENDER,
    SCORED_BY_NODE_INFO,
    ExtenderClient,
    add_scores,
    pass_extenders,
)
from scheduler_core.schedulers.v1_37.failures import Failures
from scheduler_core.schedulers.v1_37.filters import feasible_wanted, filter_alone, filter_rows
from scheduler_core.schedulers.v1_37.interface import Nominator, PluginError, PodAttempt
from scheduler_core.schedulers.v1_37.node_choice import select
from scheduler_core.schedulers.v1_37.nodes import Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.dynamic_resources import deallocate, unusable_claim
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.preemption import preempt
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.reuse import Reuse
from scheduler_core.schedulers.v1_37.score_arrays import PluginScores, ScoredNodes
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import ERROR, SKIP, SUCCESS, UNRESOLVABLE, UNSCHEDULABLE, Status

NO_NODES = "no nodes available to schedule pods"


class Scheduler:
    """Schedules pods of all profiles on one cluster; a driver uses its ``interface.SchedulingSteps``."""

    def __init__(
        self,
        cluster: ClusterState,
        configuration: CompiledConfiguration,
        nominations: Nominator,
        extension: ExtenderClient | None = None,
    ) -> None:
        self.cluster = cluster
        self.configuration = configuration
        self.nominations = nominations
        self.extension = extension
        self._extended = any({"filter", "prioritize"} & one.verbs.keys() for one in configuration.extenders)
        self.reuse = Reuse(cluster, configuration)
        self.walks = ClassWalks(cluster, configuration)
        self.handles: dict[str, dict[str, Any]] = {}
        """By profile and plugin: what the plugin keeps between attempts."""
        self.start = 0
        """Index of the node that the next walk begins with (nextStartNodeIndex)."""

    def profile_of(self, pod: CompiledPod) -> KubeSchedulerProfile | None:
        """Return the profile that handles the pod; None: the pod is not ours."""
        return self.configuration.profiles.get(pod.scheduler_name)

    def pre_enqueue(self, pod: CompiledPod) -> str | None:
        """Return the plugin that gates the pod: SchedulingGates or DynamicResources."""
        profile = self.profile_of(pod)
        assert profile is not None
        if pod.spec.get("schedulingGates") and profile.has("SchedulingGates", "preEnqueue"):
            return "SchedulingGates"
        if profile.has("DynamicResources", "preEnqueue") and unusable_claim(self.cluster, pod) is not None:
            return "DynamicResources"
        return None

    # Scheduling.

    def schedule(
        self,
        pod: CompiledPod,
        *,
        rows: Sequence[int] | None = None,
        hint: str | None = None,
        refresh: bool = True,
    ) -> PodAttempt:
        """Choose a node: PreFilter, Filter, Score and selection. Changes nothing but the start index.

        ``rows`` are the nodes of a placement, in order; ``hint`` is a batching hint. ``refresh`` is False
        within a cycle that looks at one snapshot several times.
        """
        if refresh:
            self.cluster.nodes.refresh()
        walk = self.cluster.nodes.order if rows is None else np.array(rows, np.intp)
        ctx, attempt, subset = self._begun(pod, walk, hint)
        if self.extension is not None:
            attempt.calls = self.extension.calls(pod)
        if attempt.rejection is None and attempt.error is None:
            found = self._find(ctx, attempt, walk, subset)
            if attempt.error is None and len(found):
                self._choose(ctx, attempt, found)
        return attempt

    def schedule_untraced(
        self, pod: CompiledPod, *, hint: str | None = None, given: str | None = None
    ) -> PodAttempt:
        """Choose a node as :meth:`schedule` does; the attempt may lack what only its record shows.

        ``given`` is the node that a recorded decision chose: it is not searched for again if it is feasible.
        """
        self.cluster.nodes.refresh()
        profile = self.profile_of(pod)
        assert profile is not None
        found = None
        if not (hint or pod.nominated_node or self.configuration.extenders or self.nominations.nodes()):
            row = None if given is None else self.cluster.nodes.row(given)
            found = self.reuse.choose(pod, profile, self.start, row)
        if found is None:
            return self.schedule(pod, hint=hint, refresh=False)
        self.start = found.start
        return self._reused(pod, profile, found)

    def _reused(self, pod: CompiledPod, profile: KubeSchedulerProfile, found: Chosen) -> PodAttempt:
        """Return an attempt whose choice is known."""
        nodes = self.cluster.nodes
        feasible = nodes.listed(found.feasible)
        return PodAttempt(
            pod,
            profile,
            context=None,
            total_nodes=len(nodes.order),
            walked=[nodes.listed(found.walked)],
            passed=[feasible],
            scored=None if found.totals is None else ScoredNodes(feasible, found.totals, counts=found.counts),
            ranked=len(feasible) > 1,
            reused=True,
            node=nodes.name(found.row),
        )

    def _context(self, pod: CompiledPod, profile: KubeSchedulerProfile) -> Context:
        handles = self.handles.get(profile.scheduler_name, {})
        return Context(pod, self.cluster, profile, self.configuration, handles=handles)

    def _begun(
        self, pod: CompiledPod, walk: Rows, hint: str | None
    ) -> tuple[Context, PodAttempt, frozenset[str] | None]:
        """Return a new attempt over the nodes of the walk after PreFilter, and the nodes it is limited to."""
        profile = self.profile_of(pod)
        assert profile is not None
        ctx = self._context(pod, profile)
        attempt = PodAttempt(pod, profile, context=ctx, hint=hint)
        attempt.total_nodes = len(walk)
        if len(walk):
            return ctx, attempt, self._pre_filter(ctx, attempt)
        attempt.rejection = Status(UNRESOLVABLE, (NO_NODES,))
        return ctx, attempt, None

    @staticmethod
    def _pre_filter(ctx: Context, attempt: PodAttempt) -> frozenset[str] | None:
        subset: frozenset[str] | None = None
        naming = []
        for key in ctx.profile.points["preFilter"]:
            try:
                status, names = ctx.plugins[key].pre_filter(ctx)
            except PluginError as error:
                attempt.pre_filter[key] = Status(ERROR, (str(error),)).document()
                attempt.error = f'running PreFilter plugin "{key}": {error}'
                return None
            document = attempt.pre_filter[key] = status.document()
            if status.code == SKIP:
                ctx.skipped.add(key)
            elif status.code != SUCCESS:
                attempt.rejection = status
                attempt.unschedulable_plugins = frozenset((key,))
                return None
            if names is not None:
                document["nodes"] = sorted(names)
                naming.append(key)
                subset = names if subset is None else subset & names
                if not subset:
                    attempt.rejection = _conflict(naming)
                    attempt.unschedulable_plugins = frozenset(naming)
                    return None
        attempt.unschedulable_plugins = frozenset(naming)
        return subset

    def _find(self, ctx: Context, attempt: PodAttempt, walk: Rows, subset: frozenset[str] | None) -> Rows:
        """Return the feasible rows in the order of the walk (findNodesThatFitPod)."""
        nodes = ctx.nodes
        nominated = self.nominations.node_of(ctx.pod) or attempt.hint or ctx.pod.nominated_node
        row = nodes.row(nominated) if nominated else None
        if row is not None and row in walk:
            found = self._pass(ctx, attempt, np.array([row], np.intp))
            found = self._pass_extenders(attempt, found)
            attempt.error = None
            if len(found):
                return found
        rows = walk if subset is None else self._within(ctx, attempt, walk, subset)
        if len(rows):
            first = self.start % len(rows)
            rows = np.concatenate((rows[first:], rows[:first]))
        found = self._pass(ctx, attempt, rows)
        failed = sum(number for status, number in attempt.failed.counts() if status.code != ERROR)
        failed += len(attempt.failed_strangers)
        self.start = (self.start + len(found) + failed) % len(walk)
        left = self._pass_extenders(attempt, found)
        if len(left) != len(found):
            attempt.unschedulable_plugins |= {EXTENDER}
        return left

    def _pass_extenders(self, attempt: PodAttempt, rows: Rows) -> Rows:
        """Return what the extenders leave of the feasible rows, none after an error of theirs."""
        if attempt.calls is None or attempt.error is not None:
            return rows
        try:
            return pass_extenders(attempt.calls, attempt, self.cluster.nodes, rows)
        except ExtenderError as error:
            attempt.error = str(error)
            return rows[:0]

    @staticmethod
    def _within(ctx: Context, attempt: PodAttempt, walk: Rows, subset: frozenset[str]) -> Rows:
        """Return the rows that PreFilter named; the others are absent."""
        nodes = ctx.nodes
        named = np.array([row for name in sorted(subset) if (row := nodes.row(name)) is not None], np.intp)
        rows = named[np.isin(named, walk)]
        plugins = " ".join(sorted(attempt.unschedulable_plugins))
        outside = Status(UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{plugins}]",))
        absent = walk[~np.isin(walk, np.append(rows, attempt.failed.nodes.rows))]
        attempt.absent = Failures(nodes.listed(absent), np.zeros(len(absent), np.intp), [outside])
        return rows

    def evaluate(self, pod: CompiledPod) -> PodAttempt:
        """Run PreFilter and Filter on all nodes, however many are feasible; no node is chosen."""
        self.cluster.nodes.refresh()
        walk = self.cluster.nodes.order
        ctx, attempt, subset = self._begun(pod, walk, None)
        if attempt.rejection is None and attempt.error is None:
            rows = walk if subset is None else self._within(ctx, attempt, walk, subset)
            result = filter_rows(ctx, rows, self.nominations)
            passed = result.passed
            attempt.failed = Failures(ctx.nodes.listed(rows[~passed]), result.kinds[~passed], result.statuses)
            errors = (status.text for status in attempt.failed.statuses if status.code == ERROR)
            attempt.error = next(errors, None)
            attempt.passed.append(ctx.nodes.listed(rows[passed]))
        return attempt

    def _pass(self, ctx: Context, attempt: PodAttempt, rows: Rows) -> Rows:
        """Filter the rows in order until enough are found or a filter failed; return the feasible ones."""
        nodes = ctx.nodes
        result = filter_rows(ctx, rows, self.nominations)
        several = ctx.profile.points["score"] or self._extended
        wanted = feasible_wanted(ctx.profile.percentage, len(rows)) if several else 1
        passed = result.passed
        feasible = np.flatnonzero(passed)
        end = len(rows)
        if len(feasible) > wanted:
            end = int(feasible[wanted]) + 1
        evaluated = end
        failing = np.flatnonzero(~passed[:end])
        kinds = result.kinds[failing]
        wrong = [kind for kind, status in enumerate(result.statuses) if status.code == ERROR]
        at = np.flatnonzero(np.isin(kinds, wrong)) if wrong else kinds[:0]
        if len(at):  # a filter failed: the walk ends there
            failing, kinds = failing[: at[0] + 1], kinds[: at[0] + 1]
            end = int(failing[-1])
            evaluated = end + 1
            attempt.error = result.statuses[kinds[-1]].text
        failures = Failures(nodes.listed(rows[failing]), kinds, result.statuses)
        attempt.unschedulable_plugins |= {
            status.plugin for status, _ in failures.counts() if status.code != ERROR
        }
        attempt.failed = attempt.failed.then(failures)
        if attempt.calls is not None:
            attempt.by_plugins = attempt.by_plugins.then(failures)
        feasible = rows[feasible[feasible < end]]
        attempt.walked.append(nodes.listed(rows[:evaluated]))
        attempt.passed.append(nodes.listed(feasible))
        return feasible[:wanted]

    def _choose(self, ctx: Context, attempt: PodAttempt, rows: Rows) -> None:
        """Score the feasible rows and choose one."""
        nodes, profile = ctx.nodes, ctx.profile
        place = 0
        if len(rows) > 1 and (profile.points["score"] or self.configuration.extenders):
            try:
                attempt.scored = scored = self._score(ctx, attempt, rows)
                attempt.ranked = True
            except PluginError as error:
                attempt.error = f"running Score plugins: {error}"
                return
            if attempt.calls is not None:
                add_scores(attempt.calls, scored)
            place = select(scored.totals, scored.at_random)
        attempt.node = nodes.name(int(rows[place]))

    @staticmethod
    def _score(ctx: Context, attempt: PodAttempt, rows: Rows) -> ScoredNodes:
        skipped = set()
        for key in ctx.profile.points["preScore"]:
            status = ctx.plugins[key].pre_score(ctx, rows)
            attempt.pre_score[key] = status.code
            if status.code == SKIP:
                skipped.add(key)
        for key, text in ctx.profile.unprepared.get("score", {}).items():
            raise PluginError(f'plugin "{key}" failed with: {text}')
        totals = np.zeros(len(rows), np.int64)
        scored = ScoredNodes(ctx.nodes.listed(rows), totals)
        bare = replace(ctx, instead=ctx.nodes.without_pods()) if attempt.rebuilt else ctx
        for key in ctx.profile.points["score"]:
            if key in skipped:
                continue
            seen = bare if key in SCORED_BY_NODE_INFO else ctx
            raw = ctx.plugins[key].score(seen, rows)
            normalized = ctx.plugins[key].normalize(seen, rows, raw)
            weight = ctx.profile.weights[key]
            scored.plugins[key] = PluginScores(weight, raw, normalized)
            totals += normalized if weight == 1 else weight * normalized
        return scored

    def rescore(self, pod: CompiledPod, node: str) -> tuple[Context, dict[str, int]] | None:
        """Score one node alone: raw scores by plugin; None if it is refused, nominated pods left out.

        Raises PluginError if PreFilter or an error ends the attempt.
        """
        self.cluster.nodes.refresh()
        profile, row = self.profile_of(pod), self.cluster.nodes.row(node)
        assert profile is not None
        assert row is not None
        ctx = self._context(pod, profile)
        attempt = PodAttempt(pod, profile, context=ctx)
        rows = np.array([row], np.intp)
        self._pre_filter(ctx, attempt)
        if attempt.rejection is not None or attempt.error is not None:
            raise PluginError("PreFilter ends the attempt")
        status = filter_alone(ctx, rows).first()
        if status is not None and status.code == ERROR:
            raise PluginError(status.text)
        if status is not None:
            return None
        scored = self._score(ctx, attempt, rows)
        return ctx, {key: int(scores.raw[0]) for key, scores in scored.plugins.items()}

    # What follows.

    def reserve(self, attempt: PodAttempt) -> None:
        """Assume the pod on its node, and what its claims get there."""
        claim_binder.reserve(self.cluster, attempt)

    def unreserve(self, attempt: PodAttempt) -> None:
        """Take back what :meth:`reserve` did."""
        claim_binder.unreserve(self.cluster, attempt)

    def bind(self, attempt: PodAttempt) -> list[ObjectWrite]:
        """Write volumes, claims and the pod's node; return the writes in order.

        An extender that binds may refuse: then ``error`` is set.
        """
        attempt.result, attempt.unschedulable_plugins = "scheduled", frozenset()
        return claim_binder.bind(self.cluster, attempt)

    def post_filter(self, attempt: PodAttempt) -> None:
        """Run the PostFilter plugins in order; Success or a status beyond Unschedulable ends the chain."""
        points = attempt.profile.points["postFilter"]
        if attempt.error is not None or attempt.total_nodes == 0 or not points:
            attempt.nominated = ""
            return
        for key in points:
            if key == "DynamicResources":
                status, change = deallocate(attempt.context)
                attempt.changes.extend([change] if change else ())
            elif key == "DefaultPreemption":
                status = preempt(attempt, self.nominations)
            else:
                status = attempt.context.plugins[key].post_filter(attempt.context)
            attempt.post_filter[key] = status
            if status.code != UNSCHEDULABLE:
                return

    def fail(self, attempt: PodAttempt) -> None:
        """Set result and message of an attempt that found no node."""
        if attempt.error is not None:
            attempt.result, attempt.message = "error", attempt.error
            attempt.nominated = ""
            attempt.unschedulable_plugins = frozenset()
            return
        attempt.result = "unschedulable"
        if attempt.total_nodes == 0:
            attempt.message = NO_NODES
            attempt.nominated = ""
            return
        attempt.message = fit_message(attempt)


def _conflict(plugins: list[str]) -> Status:
    names = " ".join(sorted(plugins))
    if len(plugins) == 1:
        return Status(UNRESOLVABLE, (f"node(s) didn't satisfy plugin {names}",))
    return Status(UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{names}] simultaneously",))


def fit_message(attempt: PodAttempt) -> str:
    """Return the text of the PodScheduled condition (FitError.Error)."""
    text = f"0/{attempt.total_nodes} nodes are available:"
    if attempt.rejection is not None:
        text += f" {attempt.rejection.text}."
    else:
        strangers = ((status, 1) for status in attempt.failed_strangers.values())
        text += histogram((*attempt.failed.counts(), *attempt.absent.counts(), *strangers))
    after = post_filter_text(attempt)
    return f"{text} {after}" if after else text


def post_filter_text(attempt: PodAttempt) -> str:
    """Return the PostFilter message: that of the plugin that ended the chain, else all of them."""
    statuses = list(attempt.post_filter.values())
    if statuses and statuses[-1].code != UNSCHEDULABLE:
        statuses = statuses[-1:]
    return ", ".join(status.text for status in statuses if status.text)


def histogram(statuses: Iterable[tuple[Status, int]]) -> str:
    """Count every reason of every status, which so many nodes have; entries sorted as strings."""
    counts: Counter[str] = Counter()
    for status, number in statuses:
        for reason in status.reasons:
            counts[reason] += number
    entries = sorted(f"{number} {reason}" for reason, number in counts.items())
    return f" {', '.join(entries)}." if entries else ""
