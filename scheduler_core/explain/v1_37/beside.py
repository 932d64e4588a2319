"""Why a pod is where it is under a kube-scheduler v1.37 that runs with other schedulers, on its own view.

The answer is v1.37's own: its message, each node's first failing plugin, and what would wake the pod. No
change is searched for: what would help depends on what the other schedulers do meanwhile.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.explain.explanation import Explanation
from scheduler_core.explain.v1_37.explanation import attempt_on, waking
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.report import OwnRun
from scheduler_core.schedulers.v1_37.attempt import fit_message
from scheduler_core.schedulers.v1_37.interface import PodAttempt


def pending_beside(own: OwnRun, here: Explanation) -> Explanation:
    """Explain a pending pod, or one that its manifest binds, on the view of its scheduler."""
    pod = here.pod
    if here.node:
        return replace(here, summary=f"{pod} is bound to {here.node} by its manifest: no cycle placed it.")
    run, of = own.run, f"{own.label} (kube-scheduler v1.37)"
    if pod in own.assumed:
        node = own.assumed[pod]
        return replace(here, summary=f"{pod} is assumed on {node} by {of}: its binding is not confirmed yet.")
    attempt = attempt_on(run, pod)
    if attempt is None:
        return replace(here, summary=f"{pod} is pending: {of} has not heard of it yet.")
    sentences = [_attempt_text(here, attempt), f"So {of} finds on its own view.", waking(run, pod)]
    gate = run.scheduling.pre_enqueue(attempt.pod)
    if gate:
        sentences.insert(1, f"It is not tried before the plugin {gate} lets it into the queue.")
    return replace(
        here,
        summary=" ".join(filter(None, sentences)),
        nodes_count=attempt.total_nodes,
        message="" if attempt.node is not None else attempt.error or fit_message(attempt),
    )


def _attempt_text(here: Explanation, attempt: PodAttempt) -> str:
    if here.asked is not None:
        status = attempt.failed.get(here.asked) or attempt.absent.get(here.asked)
        if status is not None:
            return f"{here.pod} does not fit on {here.asked}: {status.plugin}: {status.text}."
        if attempt.rejection is not None:
            return f"{here.pod} does not fit on {here.asked}: {attempt.rejection.text}."
        walked = any(here.asked in nodes.tolist() for nodes in attempt.walked)
        return (
            f"{here.pod} fits on {here.asked}."
            if walked
            else f"{here.asked} is not evaluated for {here.pod}."
        )
    if attempt.node is not None:
        return f"{here.pod} fits: {attempt.node} is its best node."
    return f"{here.pod} is pending: {attempt.error or fit_message(attempt)}"


def placed_beside(cycle: Cycle, here: Explanation) -> Explanation:
    """Return the answer for a pod that a v1.37 placed; ``here`` has its story and its summary so far."""
    asked = here.asked
    if asked is None or asked == here.node or cycle.matrix is None:
        return here
    if asked not in cycle.nodes:
        return replace(here, summary=f"{here.summary} Its scheduler did not know of node {asked}.")
    codes = cycle.matrix.codes[:, cycle.nodes.index(asked)]
    failed = next((row for row, code in enumerate(codes.tolist()) if code > 0), None)
    if failed is not None:
        reasons = ", ".join(cycle.matrix.reasons[int(codes[failed])])
        return replace(
            here, summary=f"{here.summary} {asked} did not fit: {cycle.matrix.order[failed]} ({reasons})."
        )
    walked = bool((codes >= 0).any())
    return replace(here, summary=f"{here.summary} {asked} {'fitted too' if walked else 'was not evaluated'}.")
