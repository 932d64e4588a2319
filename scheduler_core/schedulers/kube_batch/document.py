"""kube-batch's configuration file as a document of a bundle: in a ConfigMap, or as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.reading import At, place_of

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
