"""The smallest changes that make a pod fit, each verified by running it.

For a node the cheapest options for all reasons are combined, the result is run, and edits that turn out to be
unnecessary are dropped again. The same is done with changes of the pod, of the node and of other pods alone,
because the user can often change only one of these. The remaining changes are passed to the scheduler, and
the node it chooses is reported with them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Mapping, Sequence

from scheduler_core.explain.deletions import broken_budgets, consequences, deleted_pods
from scheduler_core.explain.edits import Edit, patches
from scheduler_core.explain.new_nodes import enlarged, node_like, shapes, with_agents
from scheduler_core.explain.notes import notes
from scheduler_core.explain.plans import Trials, all_findings, effort_of, minimal, plans, run
from scheduler_core.explain.priority import prioritized
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.rules import PodOnNode
from scheduler_core.explain.single_node import alone
from scheduler_core.explain.world import NodeVerdicts

NODES_TRIED = 4  # of all nodes, those that seem cheapest
NODES_WEIGHED = 500
CHANGES_SHOWN = 8
OF_ONE_KIND = 3  # the same change on further nodes adds nothing new
PODS_LOOKED_AT = 2_000_000  # by the rules that inspect every pod, over all nodes that are weighed


def search(standing: NodeVerdicts, rows: Sequence[int]) -> Generator[None, None, list[Remedy]]:
    """Return verified changes for these nodes, the smallest first, at most :data:`CHANGES_SHOWN`.

    It pauses every few tens of milliseconds. Of more than :data:`NODES_TRIED` nodes only the cheapest, by
    estimate, are run; nodes where the pod already fits need none.
    """
    open_rows = [row for row in rows if not standing.fits(row)]
    whole = Trials(standing)
    found: dict[str, tuple[int, list[Edit]]] = {}
    for row in _cheapest(standing, open_rows):
        yield
        if standing.exhausted:
            break
        near = alone(standing, row)
        trials, at = (whole, row) if near is None else (Trials(near), 0)
        for edits in plans(trials, at):
            yield
            found.setdefault(_content(standing, edits), (row, edits))
    verified: list[Remedy] = []
    shown: Counter[tuple[tuple[str, str], ...]] = Counter()
    for row, edits in sorted(found.values(), key=lambda one: effort_of(one[1])):
        kind = tuple(sorted((edit.kind, edit.cost) for edit in edits))
        if shown[kind] == OF_ONE_KIND:
            continue
        yield
        change = _verified(standing, row, edits) or _verified(standing, row, minimal(whole, edits, row))
        if change is not None:
            verified.append(change)
            shown[kind] += 1
        if len(verified) == CHANGES_SHOWN - 2:  # two places are for a PriorityClass and another node
            break
    if open_rows and not standing.exhausted:
        yield
        raised = prioritized(standing, open_rows)
        verified += [raised] if raised is not None else []
    if len(open_rows) == len(standing.names):
        yield from _add_node(standing, rows, verified)
    return sorted(verified, key=lambda change: (change.effort, change.size))


def _add_node(
    standing: NodeVerdicts, rows: Sequence[int], verified: list[Remedy]
) -> Generator[None, None, None]:
    """Add the remedy of another node like one of these, as it is or larger, on which the pod fits."""
    grown: list[tuple[int, Mapping[str, int]]] = []
    for row in shapes(standing, rows):
        yield
        if standing.exhausted:
            return
        found, larger = _added(standing, row, {})
        if found is not None:
            verified.append(found)
            return
        grown += [(row, larger)] if larger else []
    for row, larger in grown:
        yield
        found, _ = _added(standing, row, larger)
        if found is not None:
            verified.append(found)
            return


def _added(
    standing: NodeVerdicts, row: int, larger: Mapping[str, int]
) -> tuple[Remedy | None, Mapping[str, int]]:
    """Try another node like that of a row; return the remedy, or the amounts with which it would be one."""
    edit = node_like(standing, row, larger)
    with run(standing, [edit]) as added:
        if added is None:
            return None, {}
        with added.trial(with_agents(added.world, standing, row, edit.key)) as tried:
            fits = tuple(tried.fitting())
            if edit.key not in fits:
                return None, enlarged(PodOnNode(tried, tried.names.index(edit.key)))
            chosen = tried.choice()
    patched = tuple(patches(standing.world, [edit]))
    return (
        Remedy(edit.key, (edit.words,), patched, edit.effort, edit.size, fits, chosen=chosen, live=patched),
        {},
    )


def _verified(standing: NodeVerdicts, row: int, edits: Sequence[Edit]) -> Remedy | None:
    """Run the edits on the whole cluster and schedule the pod; return ``None`` if it does not fit."""
    if not edits:
        return None
    deleted = deleted_pods(standing.world, edits)
    broken = tuple(broken_budgets(standing, deleted))
    with run(standing, edits) as tried:
        if tried is None or not tried.fits(row):
            return None
        fits, chosen = tuple(tried.fitting()), tried.choice()
        after = consequences(tried, deleted, broken)
    if after is None:
        return None
    effort, size = effort_of(edits)
    patched = tuple(patches(standing.world, edits))
    return Remedy(
        standing.names[row],
        tuple(edit.words for edit in edits),
        patched,
        effort + after.effort,
        size,
        fits,
        chosen=chosen,
        live=tuple(patches(standing.world, edits, templates=False)),
        notes=(*notes(standing.world, edits, patched), *after.notes),
    )


def _content(standing: NodeVerdicts, edits: Sequence[Edit]) -> str:
    """Return the key that distinguishes changes: their patches, not their wording."""
    return json.dumps(patches(standing.world, edits), sort_keys=True)


def _cheapest(standing: NodeVerdicts, rows: list[int]) -> list[int]:
    if len(rows) <= NODES_TRIED:
        return rows
    weighed = max(NODES_TRIED, min(NODES_WEIGHED, PODS_LOOKED_AT // max(1, len(standing.cluster.pods))))
    fewest_first = sorted(rows, key=lambda row: len(standing.failures(row)))[:weighed]
    return sorted(fewest_first, key=lambda row: _estimate(standing, row))[:NODES_TRIED]


def _estimate(standing: NodeVerdicts, row: int) -> tuple[int, int, float]:
    """Sum up the cheapest option for each reason; nodes with a reason without options sort last."""
    hopeless, effort, size = 0, 0, 0.0
    for finding in all_findings(standing, row):
        best = min((effort_of(option) for option in finding.options), default=None)
        hopeless += best is None
        effort += best[0] if best else 0
        size += best[1] if best else 0.0
    return hopeless, effort, size
