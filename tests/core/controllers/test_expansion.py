"""The pods with which a loaded cluster is shown, and those that its controllers create."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from scheduler_core import load_documents, simulate
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.settings.release import TIMED
from tests.core.controllers.driver import node, workload
from tests.example_kinds import example_kinds

LIVING = [example for example in examples() if example_kinds()[example.slug].release == TIMED]


def identities(objects: Iterable[KubernetesObject]) -> dict[str, tuple[object, str]]:
    """Return the owner and the uid of each pod."""
    pods = [one for one in objects if isinstance(one, Pod)]
    owners = {one.meta.key: one.meta.controller for one in pods}
    named = {key: owner and (owner.kind, owner.name) for key, owner in owners.items()}
    return {one.meta.key: (named[one.meta.key], one.meta.uid) for one in pods}


@pytest.mark.parametrize("example", LIVING, ids=lambda e: e.slug)
def test_controllers_make_the_pods_with_which_an_example_is_shown(example: Example) -> None:
    """With the same names and uids: in their order kube-batch takes pods, and no others come at the start."""
    scenario = example.load()
    run = simulate(scenario)
    assert isinstance(run, TimedSimulation)
    assert identities(run.manager.objects.values()) == identities(scenario.objects)


def test_a_pods_manifest_keeps_its_restart_policy() -> None:
    """A pod that a controller made ends in the same way after a patch of its manifest."""
    documents = [node("n1"), workload("Job", restartPolicy="OnFailure")]
    [made] = [one for one in load_documents(documents).objects if isinstance(one, Pod)]
    assert to_manifest(made)["spec"]["restartPolicy"] == "OnFailure"
