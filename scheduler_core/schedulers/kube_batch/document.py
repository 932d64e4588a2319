"""kube-batch's configuration file as a document of a bundle: in a ConfigMap, or as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.names import nearest
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, place_of
from scheduler_core.kubernetes.support import part_of

BATCH_SCHEDULER = "kube-batch"
BATCH_CONFIGURATION = "configuration of kube-batch"  # what a document without a kind is called
_TOP = ("actions", "tiers")


def is_batch_configuration(value: Mapping[str, Any]) -> bool:
    """Return whether a document is the file's content, or a ConfigMap of one file that looks like it."""
    if value.get("kind") == "ConfigMap":
        return _file_of(value) is not None
    return "kind" not in value and "apiVersion" not in value and all(name in value for name in _TOP)


def _file_of(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the name and the text of the first file in a ConfigMap that has actions and tiers."""
    data = value.get("data")
    if not isinstance(data, dict):
        return None
    for name, text in data.items():
        if isinstance(text, str) and all(f"\n{top}:" in f"\n{text}" for top in _TOP):
            return str(name), text
    return None


def other_scheduler(value: Mapping[str, Any]) -> str:
    """Return whose configuration a document of this form is, if not kube-batch's; "" if it is.

    Schedulers that come from kube-batch kept the form of its file and have actions and plugins of their own.
    A ConfigMap that names what none of them has counts as kube-batch's only where its name says so.
    """
    from scheduler_core.formats.yaml_writer import write_yaml
    from scheduler_core.schedulers.kube_batch.configuration import ACTION_NAMES, PLUGIN_NAMES

    found = _file_of(value)
    name, text = found if found is not None else ("", write_yaml([dict(value)]))
    actions = {word for line in _ACTIONS.findall(text) for word in _WORD.findall(line)}
    strange = actions.difference(ACTION_NAMES)
    if found is not None:  # else it was passed to be run, whatever plugins it lists
        strange |= set(_PLUGIN.findall(text)).difference(PLUGIN_NAMES)
    scores = {other: len(strange & words) for other, words in _OTHERS.items()}
    best = max(scores, key=lambda other: scores[other])
    if scores[best]:
        return best
    if found is None:
        return ""
    called = f"{name} {part_of(value, 'metadata', 'name')}".lower()
    if BATCH_SCHEDULER in called or "kubebatch" in called:
        return ""
    named = next((other for other, hint in _HINTS.items() if hint in called), "")
    unlike = [word for word in strange if not nearest(word, (*ACTION_NAMES, *PLUGIN_NAMES))]
    return named or ("another scheduler" if unlike else "")


_ACTIONS = re.compile(r"""^[ ]*["']?actions["']?\s*:\s*(.*)$""", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][\w-]*")
_PLUGIN = re.compile(r"""\bname["']?\s*:\s*["']?([A-Za-z][\w-]*)""")
_OTHERS: Mapping[str, frozenset[str]] = {
    "Volcano": frozenset(
        "enqueue shuffle gangpreempt gangreclaim binpack capacity capacity-card cdp deviceshare extender "
        "network-topology-aware nodegroup numaaware overcommit pdb rescheduling resource-strategy-fit "
        "resourcequota sla task-topology tdm usage".split()
    ),
    "KAI Scheduler": frozenset(
        "consolidation stalegangeviction nodeplacement nodeavailability gpusharingorder gpupack gpuspread "
        "resourcetype podaffinity elastic kubeflow ray taskorder nominatednode snapshot subgrouporder "
        "minruntime topology dynamicresources".split()
    ),
}
"""What schedulers of this form have beyond kube-batch's actions and plugins."""
_HINTS: Mapping[str, str] = {"Volcano": "volcano", "KAI Scheduler": "kai-"}


def check_batch_configuration(value: Mapping[str, Any], at: At) -> str | None:
    """Report all errors and warnings of a configuration; return its text if it can be used."""
    from scheduler_core.schedulers.kube_batch.configuration import (
        BatchConfiguration,
        ConfigurationError,
        parse_configuration,
    )

    found = _file_of(value)
    if found is not None:
        name, text = found
        place = at.child("data").child(name)
    else:
        from scheduler_core.formats.yaml_writer import write_yaml

        place, text = at, write_yaml([dict(value)])
    configuration: BatchConfiguration | None = None
    try:
        configuration = parse_configuration(text)
        problems: tuple[Problem, ...] = ()
    except ConfigurationError as error:
        problems = error.problems
    for problem in problems:
        _report(place, problem, inside=found is not None, error=True)
    for problem in configuration.warnings if configuration is not None else ():
        _report(place, problem, inside=found is not None, error=False)
    return None if configuration is None else text


def _report(place: At, problem: Problem, *, inside: bool, error: bool) -> None:
    """Report a problem at its own place, or with its line at that of the file that contains it."""
    if inside:
        line = "" if problem.line is None else f"line {problem.line}: "
        message = f"{line}{problem.path + ': ' if problem.path else ''}{problem.message}"
    else:
        place, message = place_of(place, problem.path), problem.message
    (place.error if error else place.warn)(message)
