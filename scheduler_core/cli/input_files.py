"""Reading the files that a command names, and saying what is wrong with them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.authoring.verb_targets import VerbError
from scheduler_core.cli.directories import read_directory
from scheduler_core.cli.verbs import AskedVerb, with_verbs
from scheduler_core.formats.archive import PEEKED, glance
from scheduler_core.formats.bundle import File
from scheduler_core.formats.limits import FormatError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.scenario.extender_answers import settled
from scheduler_core.scenario.load import load, load_documents
from scheduler_core.scenario.load_state import DEFAULT_LIMITS
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.extenders.answers import Answers
from scheduler_core.schedulers.extenders.configuration import Extender
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.settings.feature_gates import parse_gates
from scheduler_core.settings.release import RELEASES, can_read
from scheduler_core.settings.settings import DEFAULT_SETTINGS, SETTINGS_KIND, Settings


class InputError(Exception):
    """The user's input cannot be used; the text is the message."""


DETAILS_SHOWN = 5  # of a problem, unless all are asked for
FILES = "manifests, a dump, a trace, an archive or a directory of them; - for standard input"
"""The possible values of a command's ``FILE…``."""


def add_scheduler_argument(parser: argparse.ArgumentParser) -> None:
    """Declare which kube-scheduler answers."""
    parser.add_argument(
        "--scheduler",
        choices=RELEASES,
        default="",
        help="the kube-scheduler that answers, against the bundle",
    )


def add_gates_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the feature gates that v1.37 is started with."""
    parser.add_argument(
        "--feature-gates",
        metavar="A=true,B=false",
        type=_gates,
        default={},
        help="feature gates of kube-scheduler v1.37, over those of the bundle",
    )


def _gates(text: str) -> dict[str, bool]:
    try:
        return parse_gates(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def read_scenario(
    names: Sequence[str],
    config: str | None = None,
    scheduler: str = "",
    gates: Mapping[str, bool] | None = None,
    *,
    only_v1_11: bool = False,
    verbs: Sequence[AskedVerb] = (),
) -> Scenario:
    """Read files and directories (``-``: standard input) as one bundle; ``config`` replaces its own.

    ``scheduler`` is a release that answers in place of the bundle's choice, "" for its own; ``gates`` are
    feature gates over those of the bundle; ``only_v1_11``: an option asks for what no other release has.
    ``verbs`` add operations, each with its target.

    Raises:
        InputError: A file cannot be read; every problem is a line of the message.
    """
    file = None if config is None else read_configuration(config)
    only_v1_11 = only_v1_11 or (file is not None and file.is_of_v1_11)
    scenario = _load(names, scheduler, gates, only_v1_11=only_v1_11 and not scheduler)
    if verbs:
        try:
            scenario = with_verbs(scenario, verbs, scheduler, gates)
        except VerbError as error:
            raise InputError(str(error)) from error
        except BundleError as error:
            raise InputError(problem_lines(error.problems)) from error
    return scenario if file is None else configured(scenario, file, scheduler)


def answered_by(scenario: Scenario, scheduler: str) -> Scenario:
    """Return the same bundle read for a release: it decides how controllers create pods, too.

    Raises:
        InputError: That release cannot read it.
    """
    try:
        return load_documents(scenario.documents, title=scenario.title, scheduler=scheduler)
    except BundleError as error:
        raise InputError(problem_lines(error.problems)) from error


class ConfigurationFile(Struct, frozen=True):
    """A file's configuration, SimulationSettings, answers of extenders, and the warnings about them."""

    policy: Document | None
    settings: Settings | None
    warnings: tuple[Problem, ...]
    answers: tuple[Answers, ...]
    extenders: tuple[Extender, ...]

    @property
    def is_of_v1_11(self) -> bool:
        """Whether a bundle that chooses no release is read for v1.11.

        The framework has its configurations, too, run on a cluster that was read for v1.11.
        """
        settings = self.settings or DEFAULT_SETTINGS
        release = Configuration(self.policy, settings).release
        return SUPPORT[release].check_objects is None if release else settings.only_v1_11


def read_configuration(name: str) -> ConfigurationFile:
    """Return a file's configuration.

    Raises:
        InputError: The file cannot be read or holds none.
    """
    config = _load([name])
    kinds = {str(document.get("kind")) for document in config.documents}
    if config.policy is None and SETTINGS_KIND not in kinds:
        raise InputError(
            f"{name}: holds no configuration; a document of apiVersion v1 and kind Policy, or of kind "
            f"KubeSchedulerConfiguration or {SETTINGS_KIND}, is expected"
        )
    return ConfigurationFile(
        config.policy,
        config.settings if SETTINGS_KIND in kinds else None,
        tuple(problem for problem in config.warnings if problem.file),
        tuple(config.answers),
        tuple(config.configuration.extenders),
    )


def configured(scenario: Scenario, config: ConfigurationFile, scheduler: str = "") -> Scenario:
    """Return a scenario under a file's configuration and SimulationSettings; what the file lacks is kept.

    The bundle's release is not, if it does not read such a configuration, unless ``scheduler`` is given.
    """
    policy = scenario.policy if config.policy is None else config.policy
    settings = scenario.settings if config.settings is None else config.settings
    named = scenario.settings.scheduler
    if named and not (config.settings or DEFAULT_SETTINGS).scheduler:
        read = bool(scheduler) or config.policy is None or can_read(named, policy)
        settings = replace(settings, scheduler=named if read else "")
    if scenario.settings.feature_gates and not settings.feature_gates:
        settings = replace(settings, feature_gates=scenario.settings.feature_gates)
    answers = (*config.answers, *scenario.answers)
    outdated = settled(config.extenders, config.answers, answers)
    given = (problem for problem in config.warnings if problem.message not in outdated)
    under = scenario.under(policy, settings)
    return replace(under, warnings=(*under.warnings, *given), answers=answers)


def _load(
    names: Sequence[str],
    scheduler: str = "",
    gates: Mapping[str, bool] | None = None,
    *,
    only_v1_11: bool = False,
) -> Scenario:
    try:
        return load(
            [_read(name) for name in names], scheduler=scheduler, only_v1_11=only_v1_11, feature_gates=gates
        )
    except BundleError as error:
        raise InputError(problem_lines(error.problems)) from error


def _read(name: str) -> File:
    try:
        if name == "-":
            return name, sys.stdin.buffer.read()
        return (
            read_directory(name, DEFAULT_LIMITS) if Path(name).is_dir() else (name, Path(name).read_bytes())
        )
    except OSError as error:
        raise InputError(f"{error.filename or name}: {error.strerror or error}") from error
    except FormatError as error:
        raise InputError(f"{name}: {error.message}") from error


def is_read(file: Path, name: str) -> bool:
    """Return whether a file is ``name``, or a file that is read below the directory ``name``."""
    if not Path(name).is_dir():
        return file.samefile(name)
    if not file.resolve().is_relative_to(Path(name).resolve()):
        return False
    with file.open("rb") as opened:
        return glance(file.name, opened.read(PEEKED)) is None


def problem_lines(problems: Sequence[Problem], *, unfolded: bool = False) -> str:
    """Format problems as compilers do: ``file:line: path: message``.

    The details of one follow it, indented, if they are a handful or all are ``unfolded``.
    """
    return "\n".join(line for problem in problems for line in _lines(problem, unfolded=unfolded))


def _lines(problem: Problem, *, unfolded: bool) -> Iterator[str]:
    if not unfolded and len(problem.details) > DETAILS_SHOWN:
        yield f"{_line(problem)} (named by `simulate --events`)"
        return
    yield _line(problem)
    yield from (f"  {text}" for text in problem.details)


def _line(problem: Problem) -> str:
    where = ":".join(str(part) for part in (problem.file, problem.line) if part)
    return ": ".join(part for part in (where, problem.path, problem.message) if part)


def print_lines(lines: Iterable[str], out: TextIO) -> None:
    """Print lines as they come."""
    out.writelines(f"{line}\n" for line in lines)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular for one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def in_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows in columns as wide as their content, three spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "   ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip()
