"""Options for what operators do to a cluster: ``--drain n1@90 --scale deploy/web=10``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping

from scheduler_core.authoring.verbs import DEFAULT_SECOND, VERBS, Verb, planned
from scheduler_core.scenario.history_entries import with_entries
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
        group.add_argument(f"--{name}", action="append", default=[], metavar=_metavar(verb), help=verb.help)


def _metavar(verb: Verb) -> str:
    about = {"Node": "NODE", "Pod": "POD"}.get(verb.kinds[0], "WORKLOAD")
    return f"{about}={verb.value.name}" if verb.value is not None and not verb.value.default else about


def asked_verbs(options: argparse.Namespace) -> list[AskedVerb]:
    """Return the verbs of the options, each with its target."""
    return [(name, one) for name in VERBS for one in getattr(options, name.replace("-", "_"))]


def with_verbs(
    scenario: Scenario, asked: Iterable[AskedVerb], scheduler: str, gates: Mapping[str, bool] | None
) -> Scenario:
    """Return the scenario, read again with the operations that the verbs are; say what each will do.

    The sentences are printed to standard error, as warnings are.

    Raises:
        VerbError: A target does not exist, or a value is not one.
        BundleError: The operations cannot be read.
    """
    plan = planned(scenario.documents, asked)
    for second, sentence, _ in plan:
        print(f"at {second:g} s: {sentence}", file=sys.stderr)
    documents = with_entries(scenario.documents, [one for _, _, made in plan for one in made])
    return load_documents(documents, title=scenario.title, scheduler=scheduler, feature_gates=gates)
