"""``export``: write a cluster in another format: its history, or what it is at the end of a run."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from scheduler_core.cli.html import html_file, is_lesson, lesson_html
from scheduler_core.cli.input_files import FILES, InputError, problem_lines, read_scenario
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.compare.results.snapshot import ResultNotes, snapshot
from scheduler_core.formats.snapshot import CONFIG_KIND, LISTS, is_own
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.run import simulate
from scheduler_core.scenario.scenario import Scenario

FORMATS = {
    "scenario": "the input with its history and configuration, as one bundle",
    "manifests": "the final cluster as manifests, with the pods' nodes",
    "simulator": "the final cluster as a kube-scheduler-simulator snapshot, with the results of each attempt",
    "html": "the whole run, or a lesson (its folder or its name), as one HTML file that steps",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    listed = "; ".join(f"{name}: {text}" for name, text in FORMATS.items())
    parser.add_argument(
        "--to", "--format", dest="format", choices=[*FORMATS], default="scenario", help=listed
    )
    parser.add_argument("--config", metavar="FILE", help="a configuration to use instead of the bundle's own")
    parser.add_argument(
        "--start", action="store_true", help=("export the initial cluster without running the scheduler")
    )
    parser.add_argument("--lang", metavar="CODE", help="the language of a lesson's file (default: en)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write to standard output; report on standard error what the format cannot hold."""
    if options.format == "html" and len(options.files) == 1 and is_lesson(options.files[0]):
        sys.stdout.write(lesson_html(options.files[0], options.lang))
        return 0
    if options.lang:
        raise InputError("--lang is for a lesson: its name or its folder, with --to html")
    scenario = read_scenario(options.files, options.config)
    if scenario.warnings:
        print(problem_lines(scenario.warnings), file=sys.stderr)
    if options.format == "scenario":
        sys.stdout.write(scenario.to_yaml())
        return 0
    if options.format == "html":
        sys.stdout.write(html_file(scenario, options.files))
        return 0
    notes = ResultNotes()
    documents = _at_start(scenario) if options.start else _at_end(scenario, notes, options.format)
    if options.format == "manifests":
        sys.stdout.write(write_yaml(documents))
        return 0
    json.dump(snapshot(documents, notes.annotations()), sys.stdout, indent=1)
    print()
    for line in _not_said(documents, notes):
        print(line, file=sys.stderr)
    return 0


def _at_start(scenario: Scenario) -> list[Document]:
    return [document for document in scenario.documents if document.get("kind") != "Scenario"]


def _at_end(scenario: Scenario, notes: ResultNotes, name: str) -> list[Document]:
    results = name == "simulator"
    try:
        simulation = simulate(scenario, trace=results, quirk_effects=False)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    for cycle in simulation:
        if results:
            notes.take(cycle)
    configuration = [d for d in scenario.documents if d.get("kind") in ("Policy", CONFIG_KIND)]
    return configuration + ending_documents(simulation)


def _not_said(documents: list[Document], notes: ResultNotes) -> list[str]:
    """Return a line for each kind of object or result that a snapshot cannot hold."""
    kinds = {kind for _, kind in LISTS.values()} | {CONFIG_KIND}
    left = Counter(str(d.get("kind")) for d in documents if d.get("kind") not in kinds)
    own = sum(is_own(str(d.get("kind")), str((d.get("metadata") or {}).get("name"))) for d in documents)
    lines = [f"left out: {count} {kind}: a snapshot has no list for it" for kind, count in left.items()]
    if own:
        lines.append(f"left out: {own} that every cluster has: PriorityClasses system-*, default and kube-*")
    if notes.left_out:
        lines.append(f"left out: the nodes' results of {notes.left_out} attempts, too long for annotations")
    return lines
