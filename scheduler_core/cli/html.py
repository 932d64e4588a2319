"""A run as one HTML file that steps; its panels are the web application's, where that is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from scheduler_core.cli.input_files import InputError
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario

#: Looked up when it is asked for: this package imports nothing of the application's.
WRITER = "playground.recordings.command"
LESSONS = "playground.courseware"
NEEDS = "an HTML file needs the workbench, of the package podstep"


def html_file(scenario: Scenario, names: Sequence[str]) -> str:
    """Return the file of a scenario that was read from the files ``names``.

    Raises:
        InputError: The application is not installed, or the run is larger than a file may be.
    """
    return _made(lambda writer: writer.written(scenario, _text(scenario, names), _title(scenario, names)))


def is_lesson(name: str) -> bool:
    """Whether a name is the folder of a lesson, or the slug of one that is shipped."""
    if Path(name).exists():
        return Path(name, "lesson.yaml").is_file()
    try:
        return import_module(LESSONS).lesson(name) is not None
    except ModuleNotFoundError:
        return False


def lesson_html(name: str, language: str | None = None) -> str:
    """Return the file of a lesson, in English if no language is given.

    Raises:
        InputError: The application is not installed, the lesson is not sound, or it is not in that language.
    """
    return _made(lambda writer: writer.lesson_written(name, language))


def _made(write: Callable[[Any], str]) -> str:
    try:
        return write(import_module(WRITER))
    except ModuleNotFoundError as error:
        raise InputError(f"{NEEDS}: {error}") from error
    except ValueError as error:
        raise InputError(str(error)) from error


def write_html(path: str, scenario: Scenario, names: Sequence[str]) -> None:
    """Write the file; raises as :func:`html_file`, and for a path that cannot be written."""
    if not Path(path).absolute().parent.is_dir():  # said before the run is recorded
        raise InputError(f"{path}: its folder does not exist")
    text = html_file(scenario, names)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _text(scenario: Scenario, names: Sequence[str]) -> str:
    """Return the only file's text with its comments, if it holds the scenario and nothing else does."""
    if len(names) == 1 and names[0] != "-" and Path(names[0]).is_file():
        try:
            text = Path(names[0]).read_text(encoding="utf-8")
            if load(text).documents == scenario.documents:
                return text
        except (UnicodeDecodeError, BundleError):
            pass  # an archive, or a text in another encoding
    return scenario.to_yaml()


def _title(scenario: Scenario, names: Sequence[str]) -> str:
    return scenario.title or ("" if names[0] == "-" else Path(names[0]).stem)
