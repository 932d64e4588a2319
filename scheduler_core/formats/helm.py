"""What tools leave in a bundle: Helm's templates and hooks, and variables that Flux or a shell replaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from msgspec.structs import replace

from scheduler_core.formats.bundle import SourceText
from scheduler_core.kubernetes.problems import Problem

HOOK = "helm.sh/hook"
_STAYING = frozenset({"pre-install", "post-install", "pre-upgrade", "post-upgrade", "crd-install"})
_PASSING_KINDS = ("Pod", "Job")  # Helm waits until these have finished
_ACTION = re.compile(r"\{\{-?\s*(?:[.$\"(/]|[a-z]\w*\b)[^{}]*\}\}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(?:[:/#%=-][^{}]*)?\}")
_HELM = re.compile(r"\.(?:Values|Release|Chart|Capabilities)\b|\b(?:include|template|tpl) ")
_NEAR = 1  # lines around a problem in which a template's action is its cause


def hooks_of(value: Mapping[str, Any]) -> str:
    """Return the annotation that makes an object a Helm hook, "" if it has none."""
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    hook = annotations.get(HOOK) if isinstance(annotations, Mapping) else None
    return hook if isinstance(hook, str) else ""


def is_passing_hook(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a hook that a running release does not include.

    These are tests and the hooks of deletion or rollback; of the hooks of installation, the pods and Jobs,
    which have finished by then. An object of a cluster dump, with a uid or a node, exists in any case.
    """
    written = hooks_of(value)
    hooks = {hook.strip() for hook in written.split(",")} - {""} if written else frozenset()
    metadata, spec = value.get("metadata"), value.get("spec")
    live = isinstance(metadata, Mapping) and bool(metadata.get("uid"))
    bound = isinstance(spec, Mapping) and bool(spec.get("nodeName"))
    if not hooks or live or bound:
        return False
    return not hooks & _STAYING or value.get("kind") in _PASSING_KINDS


def hook_message(kind: str, hooks: str, count: int) -> str:
    """Return the message about the hooks that are left out."""
    what = f"{count} {kind} with the annotation {HOOK}: {hooks[:60]} {'is' if count == 1 else 'are'} left out"
    why = "a Helm hook is not part of the release"
    return f"{what}: {why}; remove the annotation to schedule it"


def blame_templates(problems: Iterable[Problem], sources: Mapping[str | None, SourceText]) -> list[Problem]:
    """Return the problems, with those of unrendered templates replaced by one problem per chart.

    One at a variable that was not replaced says so.
    """
    out: list[Problem] = []
    blamed: dict[str, Problem] = {}
    files: dict[str, set[str | None]] = {}
    templates: dict[str | None, bool] = {}
    for problem in problems:
        source = sources.get(problem.file)
        line = _template_line(problem, source) if source is not None else None
        if line is None and not templates.get(problem.file):
            out.append(problem if source is None else _of_variable(problem, source))
            continue
        templates[problem.file] = True
        chart = _chart_of(problem.file)
        files.setdefault(chart, set()).add(problem.file)
        if chart not in blamed and line is not None:
            blamed[chart] = Problem("", "", line, problem.document, problem.file)
    for chart, first in blamed.items():
        more = len(files[chart]) - 1
        others = f" (and {more} more {'file' if more == 1 else 'files'} of the chart)" if more else ""
        source = sources[first.file]
        message = f"this is a template, not a manifest{others}: pass the rendered output"
        if _HELM.search(source.text):
            message = (
                f"this is a Helm template, not a manifest{others}: pass the output of `helm template {chart}`"
            )
        out.append(Problem(message, first.path, first.line, first.document, first.file))
    return out


def _of_variable(problem: Problem, source: SourceText) -> Problem:
    """Return a problem, explained by the variable in its line if there is one."""
    if problem.line is None or "${" not in source.text:
        return problem
    line = next(islice(source.text.splitlines(), problem.line - 1, problem.line), "")
    found = _VARIABLE.search(line)
    if found is None:
        return problem
    why = f"{found.group()[:60]} is a variable that nothing has replaced"
    remedy = "pass the output of `flux build kustomization`, or of `envsubst` with the variables set"
    return replace(problem, message=f"{why}: {remedy} ({problem.message})")


def _chart_of(file: str | None) -> str:
    """Return the chart directory of a template's file, derived from its path."""
    above, found, _ = (file or "").rpartition("/templates/")
    return above if found else "CHART"


def _template_line(problem: Problem, source: SourceText) -> int | None:
    """Return the line of the template action that causes a problem."""
    if problem.line is None or source.syntax != "yaml" or "{{" not in source.text:
        return None
    at = problem.line - 1
    first = max(0, at - _NEAR)
    lines = islice(source.text.splitlines(), first, at + _NEAR + 1)
    actions = [number for number, line in enumerate(lines, first) if _ACTION.search(line)]
    return min(actions, key=lambda number: abs(number - at)) + 1 if actions else None
