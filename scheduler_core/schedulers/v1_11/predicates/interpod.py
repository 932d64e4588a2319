"""Inter-pod affinity and anti-affinity, in both directions."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.schedulers.columns.podinfo import PodInfo, Term
from scheduler_core.schedulers.columns.pods import AffinityClass, PodKind, PodQuery, PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.topology import row_sums
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult, failing
from scheduler_core.schedulers.quirks import quirk
from scheduler_core.schedulers.v1_11.predicates.rule import FilterPlugin, OrderPlace, Reason, Rule
from scheduler_core.schedulers.v1_11.quirks import QUIRK_IDS

GENERAL_REASON = "node(s) didn't match pod affinity/anti-affinity"
EXISTING_REASON = "node(s) didn't satisfy existing pods anti-affinity rules"
AFFINITY_REASON = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_REASON = "node(s) didn't match pod anti-affinity rules"

OWN_QUIRKS = frozenset(
    {
        "last-anti-affinity-term",
        "anti-affinity-terms-anded",
        "nominated-pods-are-no-targets",
        "self-match-needs-no-topology",
        "self-match-before-removal",
    }
)


class MatchInterPodAffinity:
    """Existing pods' anti-affinity, then the pod's own affinity and anti-affinity; the first failure decides
    (predicates.PodAffinityChecker.InterPodAffinityMatches).
    """

    scope = Scope.CLUSTER
    reads = Reads(pod=("namespace", "labels", "terminating", "affinity"), node=("labels",), objects=("Pod",))

    def __init__(self, quirks: frozenset[str] = QUIRK_IDS) -> None:
        self.quirks = quirks & OWN_QUIRKS

    def under(self, quirks: frozenset[str]) -> MatchInterPodAffinity:
        """Return the check with these quirks in force."""
        return self if self.quirks == quirks & OWN_QUIRKS else MatchInterPodAffinity(quirks)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:
        """Fail with the general reason and the reason of the first check that fails."""
        failed: BoolVector | None = None
        codes: Codes | None = None
        for mask, reason in (
            (self._refused_by_existing(view, state), EXISTING_REASON),
            (self._affinity_unmet(pod, view), AFFINITY_REASON),
            (self._anti_affinity_hit(pod, view), ANTI_AFFINITY_REASON),
        ):
            if mask is None:
                continue
            fresh = mask if failed is None else mask & ~failed
            codes = view.reasons.merge(codes, failing(fresh, view, GENERAL_REASON, reason).codes)
            failed = mask if failed is None else failed | mask
        return FITS if codes is None else PredicateResult(codes)

    def _refused_by_existing(self, view: View, state: PodState) -> BoolVector | None:
        """Return where the required anti-affinity of an existing pod rejects this one."""
        kind = state.kind
        by_key: dict[str, list[AffinityClass]] = {}
        for acting in view.cluster.index.acting_on(kind):
            terms = acting.terms.anti_required
            if not terms or not (acting.total or acting in view.changes.classes):
                continue
            for key in compared_keys(terms, kind, last="last-anti-affinity-term" in self.quirks):
                by_key.setdefault(key, []).append(acting)
        refused: BoolVector | None = None
        for key, classes in by_key.items():
            domains = view.columns.topology((key,))
            sums = classes[0].sums(domains)
            for acting in classes[1:]:
                sums = sums + acting.sums(domains)
            here = row_sums(view, domains, sums, view.class_change(classes)) > 0
            refused = here if refused is None else refused | here
        return refused

    @quirk("self-match-needs-no-topology")
    def _affinity_unmet(self, pod: PodInfo, view: View) -> BoolVector | None:
        """Return where no pod that matches all required terms shares all their topologies.

        If no pod in the whole cluster matches, a pod that matches its own terms fits anywhere: in v1.11
        even on a node without the labels of the topology keys.
        """
        terms = pod.terms.required
        if not terms:
            return None
        query = PodQuery.of_terms(terms)
        if not query.matches(pod.namespace, pod.labels):
            return ~self._shares_topology(terms, query, view)
        present = self._present(query, view)
        first: BoolVector | bool = present <= 0  # whether the pod is the first that matches its terms
        if first is False:
            return ~self._shares_topology(terms, query, view)
        if "self-match-needs-no-topology" not in self.quirks:
            first = first & (view.take(view.columns.topology(_keys(terms)).ids) >= 0)
        return None if first is True else ~(self._shares_topology(terms, query, view) | first)

    @quirk("self-match-before-removal")
    def _present(self, query: PodQuery, view: View) -> int | IntVector:
        """Count the matching pods in the whole cluster, per row if the rows differ.

        In v1.11 neither the pods removed in preemption's dry runs nor nominated pods change the count.
        """
        present: int | IntVector = view.cluster.index.count(query).total
        if "self-match-before-removal" not in self.quirks:
            change = view.query_change(query)
            present = present if change is None else present + change
        if "nominated-pods-are-no-targets" not in self.quirks:
            nominated = view.nominated_change(query)
            present = present if nominated is None else present + nominated
        return present

    @quirk("anti-affinity-terms-anded")
    def _anti_affinity_hit(self, pod: PodInfo, view: View) -> BoolVector | None:
        """Return where existing pods match the required anti-affinity terms; in v1.11 one must match all."""
        terms = pod.terms.anti_required
        if not terms:
            return None
        if "anti-affinity-terms-anded" in self.quirks:
            return self._shares_topology(terms, PodQuery.of_terms(terms), view)
        hits = [self._shares_topology((term,), PodQuery.of_terms((term,)), view) for term in terms]
        return np.asarray(np.logical_or.reduce(hits))

    @quirk("nominated-pods-are-no-targets")
    def _shares_topology(self, terms: tuple[Term, ...], query: PodQuery, view: View) -> BoolVector:
        domains = view.columns.topology(_keys(terms))
        sums = view.cluster.index.count(query).sums(domains)
        own = view.query_change(query)
        if "nominated-pods-are-no-targets" not in self.quirks:
            nominated = view.nominated_change(query)
            if nominated is not None:
                own = nominated if own is None else own + nominated
        found = row_sums(view, domains, sums, own) > 0
        return np.asarray(found, np.bool_)


@quirk("last-anti-affinity-term")
def compared_keys(terms: tuple[Term, ...], kind: PodKind, *, last: bool = True) -> tuple[str, ...]:
    """Return the topology keys by which a pod with these anti-affinity terms rejects pods of a kind.

    ``last`` is v1.11's behaviour: the key of the last term, whichever term matches.
    """
    matching = [term.topology_key for term in terms if term.selects(kind.namespace, kind.labels)]
    if not matching:
        return ()
    return (terms[-1].topology_key,) if last else tuple(dict.fromkeys(matching))


def _keys(terms: tuple[Term, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.topology_key for term in terms))


RULES = (
    Rule(
        key="MatchInterPodAffinity",
        check=MatchInterPodAffinity(),
        text=(
            "No running pod's required anti-affinity keeps this pod out, and the pod's own "
            "required affinity and anti-affinity to other pods hold."
        ),
        v1_11=OrderPlace(210, "By far the most expensive, hence last: it reads pods of the whole cluster."),
        proposal=OrderPlace(160, "The most expensive, hence last.", "InterPodAffinityMatches"),
        default=True,
        plugin=FilterPlugin("InterPodAffinity", "namespaceSelector is not read"),
        reasons=(
            Reason(EXISTING_REASON, finding="refused_by_existing"),
            Reason(AFFINITY_REASON, finding="affinity_unmet"),
            Reason(ANTI_AFFINITY_REASON, finding="anti_affinity_hit"),
        ),
        invalidated_by=(
            "pod-add-affinity",
            "pod-update-labels",
            "pod-update-affinity",
            "pod-delete-affinity",
            "pod-delete-affinity-all",
            "node-add",
            "node-update-affinity",
            "node-update-affinity-had",
            "node-delete-pods",
        ),
    ),
)
