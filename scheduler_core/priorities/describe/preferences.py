"""Descriptions of priorities on labels, taints and annotations."""

from __future__ import annotations

from scheduler_core.cluster.nodeaffinity import term_mask
from scheduler_core.objects.model import NodeSelectorTerm, Requirement
from scheduler_core.objects.selectors import tolerates
from scheduler_core.priorities.base import MAX_PRIORITY
from scheduler_core.priorities.equal import Equal
from scheduler_core.priorities.label_preference import LabelPreference
from scheduler_core.priorities.line import (
    Description,
    Line,
    LineQuestion,
    number,
    shortened,
    truncated,
)
from scheduler_core.priorities.node_affinity import NodeAffinity
from scheduler_core.priorities.prefer_avoid_pods import ANNOTATION, AVOIDABLE_KINDS, NodePreferAvoidPods
from scheduler_core.priorities.taint_toleration import EFFECT, TaintToleration

EVERY = number(MAX_PRIORITY)


def node_affinity(asked: LineQuestion, rule: NodeAffinity) -> Description:  # noqa: ARG001
    """Describe the sum of the weights of the terms that match, compared with the highest sum."""
    affinity = asked.pod.info.fields.affinity
    preferred = affinity.node_preferred if affinity is not None else ()
    lines: list[Line] = []
    for one in preferred:
        term = NodeSelectorTerm(match_expressions=one.term.match_expressions)
        matches = bool(term_mask(term, asked.cluster.columns)[asked.node])
        said = "matches: its weight" if matches else "does not match"
        lines.append(Line(_expressions(one.term), said, "", number(one.weight if matches else 0)))
    lines = shortened(lines, "terms") or [Line("preferred terms", "the pod has none", "", "0")]
    lines.append(Line("sum", "of the weights that match", "", number(asked.raw)))
    most = int(asked.values.max(initial=0))
    if not most:
        scale = Line("score", "no feasible node matches a term, so all keep 0", "", "0")
    else:
        formula = f"{MAX_PRIORITY} × sum / highest sum of a feasible node"
        numbers = f"{MAX_PRIORITY} × {number(asked.raw)} / {number(most)}"
        scale = truncated(
            "score", formula, numbers, MAX_PRIORITY * asked.raw / most, MAX_PRIORITY * asked.raw // most
        )
    return Description("Nodes that the pod's preferred node affinity terms match.", tuple(lines), (scale,))


def _expressions(term: NodeSelectorTerm) -> str:
    return " and ".join(map(_requirement, term.match_expressions)) or "a term without expressions"


def _requirement(requirement: Requirement) -> str:
    values = f" [{', '.join(requirement.values)}]" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


def taint_toleration(asked: LineQuestion, rule: TaintToleration) -> Description:  # noqa: ARG001
    """Describe the count of taints that are not tolerated, compared with the highest count."""
    tolerations = tuple(t for t in asked.pod.info.fields.tolerations if t.effect in ("", EFFECT))
    lines: list[Line] = []
    for taint in asked.cluster.columns.nodes[asked.node].taints:
        if taint.effect == EFFECT:
            name = f"{taint.key}={taint.value}:{EFFECT}" if taint.value else f"{taint.key}:{EFFECT}"
            tolerated = tolerates(tolerations, taint)
            lines.append(
                Line(name, "tolerated" if tolerated else "not tolerated", "", "0" if tolerated else "1")
            )
    lines = shortened(lines, "taints") or [Line("taints", f"the node has none with {EFFECT}", "", "0")]
    lines.append(Line("not tolerated", "how many taints", "", number(asked.raw)))
    most = int(asked.values.max(initial=0))
    if not most:
        scale = Line("score", "no feasible node has such a taint, so each scores the most", "", EVERY)
    else:
        formula = f"{MAX_PRIORITY} − {MAX_PRIORITY} × taints / most taints of a feasible node"
        numbers = f"{MAX_PRIORITY} − {MAX_PRIORITY} × {number(asked.raw)} / {number(most)}"
        lost = MAX_PRIORITY * asked.raw // most
        exact = f"{MAX_PRIORITY} − {lost}" if lost else ""
        scale = Line("score", formula, numbers, number(MAX_PRIORITY - lost), exact)
    prefers = f"Nodes with few {EFFECT} taints that the pod does not tolerate."
    return Description(prefers, tuple(lines), (scale,))


def prefer_avoid_pods(asked: LineQuestion, rule: NodePreferAvoidPods) -> Description:  # noqa: ARG001
    """Describe whether the node's annotation names the pod's controller."""
    owner = asked.pod.info.owner
    annotated = ANNOTATION in asked.cluster.columns.nodes[asked.node].meta.annotations
    if owner is None or owner[0] not in AVOIDABLE_KINDS:
        why = f"the pod has no {' or '.join(AVOIDABLE_KINDS)}, so no node can avoid it"
    elif not annotated:
        why = "the node has no such annotation"
    elif asked.raw:
        why = "it does not name the pod's controller"
    else:
        why = f"it names the pod's {owner[0]}"
    prefers = "Nodes that do not ask the pod's controller to stay away."
    return Description(prefers, (Line("annotation preferAvoidPods", why, "", number(asked.raw)),))


def label_preference(asked: LineQuestion, rule: LabelPreference) -> Description:
    """Describe whether the node has the label."""
    has = rule.label in asked.cluster.columns.nodes[asked.node].meta.labels
    wanted = "with" if rule.presence else "without"
    said = "the node has the label" if has else "the node does not have the label"
    line = Line(rule.label, said, "", EVERY if has == rule.presence else "0")
    return Description(f"Nodes {wanted} the label {rule.label}.", (line,))


def equal(asked: LineQuestion, rule: Equal) -> Description:  # noqa: ARG001
    """Describe the constant score."""
    return Description("All nodes alike.", (Line("score", "1 on every node", "", "1"),))
