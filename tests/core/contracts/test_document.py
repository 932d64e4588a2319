"""Contracts that cannot be checked: the message has the line and what would be right, at once."""

from __future__ import annotations

import pytest

from scheduler_core import BundleError, Scenario, load
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.studies.contracts.check import check, misfits
from scheduler_core.studies.contracts.conditions import FactName, read_condition
from scheduler_core.studies.contracts.document import gaps_of, read_contracts
from tests.core.contracts.clusters import bundle, joining, nodes, settings, workload
from tests.core.kueue.clusters import manifests

HEAD = "apiVersion: podstep/v1\nkind: Contract\nmetadata: {name: one}\nspec:\n"
_QUEUES = {"queues": {"team-a": {"quota": {"spot": 4}}, "team-b": {"quota": {"spot": 4, "reserved": 1}}}}
CLUSTER = bundle(nodes("aabbcc" * 10), workload("Deployment", "web", 3))
QUEUES = bundle(nodes("a"), list(manifests(_QUEUES)))
BAD = {
    "a fact that there is not": ("  always: redy >= 4", 5, "did you mean 'ready'?"),
    "a fact without its argument": ("  always: skew <= 1", 5, 'skew("…") with a node label in quotes'),
    "no condition": ("  always: ready", 5, "compare facts, as in ready >= 4"),
    "no expression": ("  always: ready >=", 5, "is not an expression of CEL"),
    "a label that no node has": (
        "  when:\n  - lose: {any: topology.kubernetes.io/zon}\n  always: ready >= 1",
        6,
        "did you mean 'topology.kubernetes.io/zone'?",
    ),
    "a label in a fact": ('  always: skew("rack") <= 1', 5, "no node has the label 'rack'"),
    "a resource in a fact": ('  always: free("cpus") >= 1', 5, "did you mean 'cpu'?"),
    "an impossible window": ("  within: 0s\n  always: ready >= 1", 5, "a window from 1s to 24h"),
    "a window that is none": ("  within: soon\n  always: ready >= 1", 5, "such as 30s or 1h30m"),
    "too many cases": (
        "  when:\n  - lose: {any: 8, of: nodes}\n  always: ready >= 1",
        5,
        "set cases to how many seeded random ones",
    ),
    "a range that is too long": (
        "  when:\n  - scale: {web: 1..1000000000}\n  always: ready >= 1",
        6,
        "must be a number",
    ),
    "a workload that there is not": (
        "  when:\n  - rollout: wep\n  always: ready >= 1",
        6,
        "there are web",
    ),
    "a nemesis that there is not": (
        "  when:\n  - loose: n1\n  always: ready >= 1",
        6,
        "did you mean 'lose'?",
    ),
    "a node that there is not": (
        "  when:\n  - drain: n77\n  always: ready >= 1",
        6,
        "there is no node 'n77'",
    ),
    "a subject that there is not": (
        "  for: {kind: Deployment, name: wep}\n  always: ready >= 1",
        5,
        "did you mean 'default/web'?",
    ),
    "a queue without Kueue": (
        "  for: {every: ClusterQueue}\n  always: owed.seconds <= 60",
        5,
        "there is no ClusterQueue in the cluster: name a kind that it has",
    ),
    "a fact of queues": ('  always: used("cpu") >= 1', 5, "for: {kind: ClusterQueue, name: …}"),
    "a PodGroup that there is not": (
        "  for: {kind: PodGroup, name: train}\n  always: bound == 0",
        5,
        "no pod and no pod template is of PodGroup default/train",
    ),
    "a namespace that there is not": (
        "  for: {kind: Namespace, name: defualt}\n  always: bound == 0",
        5,
        "did you mean 'default'?",
    ),
    "a selector of nothing": (
        "  for: {selector: {matchLabels: {app: wep}}}\n  always: bound == 0",
        5,
        "matches no pod and no pod template: pods have app=web",
    ),
    "a selector that is none": (
        "  for: {selector: {matchExpressions: [nonsense]}}\n  always: bound == 0",
        5,
        "must be an object with fields such as key, operator, values",
    ),
    "a number that no manifest holds": ("  within: .inf\n  always: ready >= 1", 1, ".inf is not a number"),
    "a name that another contract has": (
        f"  always: ready >= 0\n---\n{HEAD}  always: bound >= 0",
        9,
        "'one' is the name of the contract in line 3, too",
    ),
    "a release without controllers": (
        "  when:\n  - upgrade: {scheduler: v1.11}\n  always: moved == 0",
        6,
        "allowed are v1.22",
    ),
    "two conditions": ("  always: ready >= 1\n  never: ready < 1", 4, "exactly one of always, never"),
    "a field that is misspelt": ("  allways: ready >= 1", 5, "did you mean 'always'?"),
    "a release that there is not": (
        "  when:\n  - upgrade: {scheduler: v1.99}\n  always: ready >= 1",
        6,
        "is not allowed",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_contracts_are_refused_at_their_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first problem is at the line, has the remedy, and comes before anything is played."""
    text, line, remedy = BAD[name]
    scenario = load(CLUSTER)
    monkeypatch.delattr("scheduler_core.studies.contracts.check._Check.verdict")
    with pytest.raises(BundleError) as error:
        list(check(scenario, read_contracts([("one.yaml", HEAD + text)])))
    assert _while_typed(scenario, text) == list(error.value.problems)
    assert any(remedy in one.message and one.line == line for one in error.value.problems), (
        error.value.problems
    )


def _while_typed(scenario: Scenario, text: str) -> list[Problem]:
    """Return the problems that an editor shows."""
    try:
        return misfits(scenario, read_contracts([("one.yaml", HEAD + text)]))
    except BundleError as error:
        return list(error.problems)


def test_what_operations_bring_is_no_misfit() -> None:
    """A node that joins before events begin is one that a contract may name; one that joins later is not."""
    text = "  when:\n  - drain: late\n  always: ready >= 0"
    for second, problems in ((30, []), (1e6, ["there is no node 'late'; there are n1"])):
        scenario = load(bundle(nodes("a"), joining("b", second), settings(scheduler="v1.37")))
        assert [one.message for one in _while_typed(scenario, text)] == problems


BAD_OF_QUEUES = {
    "a queue that there is not": (
        "  for: {kind: ClusterQueue, name: team-c}\n  always: pending == 0",
        5,
        "did you mean 'team-b'?",
    ),
    "a fact of pods": (
        "  for: {kind: ClusterQueue, name: team-a}\n  always: ready >= 1",
        6,
        "of a ClusterQueue there are pending, pending.seconds",
    ),
    "a resource without quota": (
        '  for: {every: ClusterQueue}\n  always: used("gpu") <= 1',
        6,
        "has no quota of 'gpu': it has cpu, spot/cpu",
    ),
    "a flavor that one queue lacks": (
        '  for: {every: ClusterQueue}\n  always: nominal("reserved/cpu") >= 1',
        6,
        "ClusterQueue team-a has no quota of 'reserved/cpu'",
    ),
}


@pytest.mark.parametrize("name", BAD_OF_QUEUES)
def test_bad_contracts_about_queues_are_refused_at_their_line(name: str) -> None:
    """A queue or quota that there is not, and facts of pods."""
    text, line, remedy = BAD_OF_QUEUES[name]
    with pytest.raises(BundleError) as error:
        list(check(load(QUEUES), read_contracts([("one.yaml", HEAD + text)])))
    assert _while_typed(load(QUEUES), text) == list(error.value.problems)
    assert [(one.line, remedy in one.message) for one in error.value.problems] == [(line, True)]


CONDITIONS = {
    "ready >= 2": (True, 1.0),
    "ready > 3": (False, 0.0),
    "ready == 3 && pending.seconds < 10": (True, 0.0),
    "ready == 0 || bound >= 5": (False, -2.0),
    "!(ready == 0)": (True, 3.0),
    "ready * 2 - 1 != bound": (True, 2.0),
    'skew("topology.kubernetes.io/zone") <= 1': (False, -2.0),
    "true": (True, 1.0),
}
FACTS = {"ready": 3.0, "bound": 3.0, "pending.seconds": 4.0, "skew": 3.0}


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_hold_by_a_margin(text: str) -> None:
    """Of a comparison it is the difference of its sides, of both the least, of either the greatest."""
    assert read_condition(text).judge(lambda fact: FACTS[fact.name]) == CONDITIONS[text]


def test_conditions_list_their_facts() -> None:
    """Each once, with its argument."""
    found = read_condition('free("cpu") > 1 && ready > 0 && free("cpu") < 9').facts
    assert found == (FactName("free", "cpu"), FactName("ready"))


def test_ranges_of_gaps_have_their_ends() -> None:
    """And those between them that grow by a factor; one duration is one gap."""
    assert gaps_of(60, 60) == (60,)
    assert gaps_of(0, 32) == (0, 1, 2, 4, 8, 16, 32)
