"""The facts of ClusterQueues in a living cluster."""

from __future__ import annotations

import json

import pytest

from scheduler_core import load
from scheduler_core.studies.contracts.check import check
from scheduler_core.studies.contracts.document import read_contracts
from scheduler_core.studies.contracts.search import CheckBounds
from tests.core.contracts.clusters import bundle, nodes, queued
from tests.core.kueue.clusters import manifests

_QUOTA = {"spot": {"cpu": 1, "memory": "1Gi"}, "reserved": {"cpu": 3, "memory": "1Gi"}}
_FLAVORS: dict[str, dict[str, str]] = {"spot": {}, "reserved": {}}
_CLUSTER = bundle(
    nodes("a", cpu="8"),
    list(manifests({"flavors": _FLAVORS, "queues": {"a": {"quota": _QUOTA}, "b": {"quota": _QUOTA}}})),
    queued("Job", "running", "a", 2),
    queued("Job", "wide", "a", 9),
    queued("PodTemplate", "more", "a"),
)
_CONTRACT = """
apiVersion: podstep/v1
kind: Contract
metadata: {{name: one}}
spec:
  for: {{kind: ClusterQueue, name: a}}
  when:
  - arrive: {{template: more, from: 2, upTo: 2}}
  within: 100s
  {claim}
"""
CLAIMS = {
    "finally: admitted == 3 && pending == 1": "both that fit and the Job of before; the wide one waits",
    'always: nominal("cpu") == 4 && nominal("reserved/cpu") == 3': "by resource, and by flavor",
    'finally: used("cpu") == 4 && used("spot/cpu") == 1': "the pods take what is left of both flavors",
    "finally: pending.seconds >= 99": "the wide Job waits",
    "always: owed.seconds < 1": "what is more than the nominal quota is not owed",
    "never: evicted > 0": "nobody is preempted",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_facts_of_a_queue(claim: str) -> None:
    """Each claim holds in a queue of two flavors, and its contrary does not."""
    mode, _, condition = claim.partition(": ")
    contrary = f"!({condition})"
    texts = [("", _CONTRACT.format(claim=f"{mode}: {json.dumps(one)}")) for one in (condition, contrary)]
    budget = CheckBounds(cases=2, seconds=20, shrinking=0)
    found = [one.verdict for text in texts for one in check(load(_CLUSTER), read_contracts([text]), budget)]
    assert found == ["holds", "violated"], CLAIMS[claim]
