"""Options for what operators do to a cluster: ``--drain n1@90 --scale deploy/web=10``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from scheduler_core.authoring.verbs import DEFAULT_SECOND, VERBS, operations, with_operations
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario

AskedVerb = tuple[str, str]


def add_verb_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare an option for each verb; all of them may be repeated and mixed."""
    text = (
        f"each followed by @SECONDS of virtual time, @{DEFAULT_SECOND} if without; NODE is a name or a label "
        "such as zone=a, WORKLOAD is as in deploy/web or deploy/NAMESPACE/web"
    )
    group = parser.add_argument_group("what happens to the cluster", text)
    for name, verb in VERBS.items():
        about = "NODE" if verb.kinds == ("Node",) else "WORKLOAD"
        metavar = f"{about}={verb.value}" if verb.value else about
        group.add_argument(f"--{name}", action="append", default=[], metavar=metavar, help=verb.help)


def asked_verbs(options: argparse.Namespace) -> list[AskedVerb]:
    """Return the verbs of the options, each with its target."""
    return [(name, one) for name in VERBS for one in getattr(options, name.replace("-", "_"))]


def with_verbs(
    scenario: Scenario, asked: Iterable[AskedVerb], scheduler: str, gates: Mapping[str, bool] | None
) -> Scenario:
    """Return the scenario, read again with the operations that the verbs are.

    Raises:
        VerbError: A target does not exist, or a value is not one.
        BundleError: The operations cannot be read.
    """
    documents = with_operations(scenario.documents, operations(scenario.documents, asked))
    return load_documents(documents, title=scenario.title, scheduler=scheduler, feature_gates=gates)
