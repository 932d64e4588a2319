"""The text of a scenario: joining files, editing in place, removing secrets, and its introduction."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import suppress

from playground.storage import bundles
from scheduler_core.formats.bundle import BundleEntry, File, read_files
from scheduler_core.formats.decode import SECRET_KINDS
from scheduler_core.formats.folder import Folder
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.splices import splice
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.settings.release import GATED, TIMED, default_release, plugins_named

_SUSPECT = re.compile("|".join([*SECRET_KINDS, r"\\[xuU\r\n]"]))  # a kind may be written with escapes
_BOM = "\ufeff"


def holds(text: str, documents: Sequence[Document]) -> bool:
    """Return whether a text parses to exactly these documents."""
    with suppress(BundleError, bundles.TooLargeError):
        return bundles.read_documents(text) == tuple(documents)
    return False


def spliced(text: str, before: Sequence[Document], after: Sequence[Document]) -> str | None:
    """Return ``text``, which contains ``before``, edited to contain ``after``; the rest is unchanged.

    ``None`` if that is impossible, as for a trace.
    """
    if tuple(before) == tuple(after):
        return text
    whole = splice(text, before, after)
    return whole if whole is not None and holds(whole, after) else None


def answered_by(text: str, documents: Sequence[Document], release: str) -> str:
    """Return ``text``, which contains ``documents``, with a release in its SimulationSettings."""
    after = bundles.with_release(documents, release)
    return spliced(text, documents, after) or bundles.bundle_text(Scenario("", after, ()))


def presumed(files: bundles.Files, release: str) -> bundles.Files:
    """Return files that name ``release`` if they would be answered by another one because they name none.

    Files that cannot be read, and those that choose a release, are returned as they are.
    """
    if release in ("", default_release()):
        return files
    try:
        scenario = bundles.parse(files, presumed=release)
    except (BundleError, bundles.TooLargeError):
        return files
    if scenario.said_release:
        return files
    return [("", answered_by(joined(files, scenario), scenario.documents, scenario.release))]


def answered_then(text: str, release: str) -> str:
    """Return a text that ``release`` answered, naming it if another one would today.

    Unlike in :func:`presumed` the nodes' kubelets have no say: what they choose may have changed since. A
    text whose settings or configuration choose a release is returned as it is, unless that has changed since,
    and so is one that cannot be read.
    """
    if not release:
        return text
    try:
        scenario = bundles.parse([("", text)])
    except (BundleError, bundles.TooLargeError):
        return text
    chosen = any(configuration.release for configuration in scenario.configurations)
    chosen = chosen and not (release == TIMED and was_of_framework(scenario))
    if chosen or scenario.release == release:
        return text
    return answered_by(text, scenario.documents, release)


def was_of_framework(scenario: Scenario) -> bool:
    """Return whether v1.22 answered a scenario of v1.37 before that ran the plugins of its configuration."""
    first, *later = scenario.configurations
    named = _has_moved(first) or (not first.release and any(map(_has_moved, later)))
    return named and scenario.release == GATED


def _has_moved(configuration: Configuration) -> bool:
    """Return whether a configuration has plugins that v1.37 was not built with once."""
    if configuration.settings.scheduler or configuration.policy is None:
        return False
    return bool(SUPPORT[GATED].holding.intersection(plugins_named(configuration.policy)))


def stored(files: Sequence[File], scenario: Scenario) -> bundles.Files:
    """Return the files of ``scenario`` as they are stored; of an archive what could be read.

    What is wrong in a file of an archive was left out, and would be an error in the one text of its files.
    """
    made = bundles.stored(files)
    if any(isinstance(one, Folder) for one in files):
        try:
            bundles.parse(made)
        except (BundleError, bundles.TooLargeError):
            return [("", bundles.bundle_text(scenario))]
    return made


def joined(files: bundles.Files, scenario: Scenario) -> str:
    """Return the files of ``scenario`` as one text: concatenated, or its documents written as a bundle.

    Files that are not YAML, such as traces and JSON, cannot be concatenated.
    """
    if len(files) == 1:
        return files[0][1]
    whole = ""
    for text in (text.removeprefix(_BOM) for _, text in files):
        if whole:
            whole += "" if whole.endswith("\n") else "\n"
            whole += "" if text.startswith("---") else "---\n"
        whole += text
    return whole if holds(whole, scenario.documents) else bundles.bundle_text(scenario)


def publishable(text: str, scenario: Scenario) -> str:
    """Return ``text``, from which ``scenario`` was read, without its Secrets; the rest is unchanged."""
    if not _SUSPECT.search(text):
        return text
    found = entries(text)
    kept = [entry.value for entry in found if entry.kind not in SECRET_KINDS]
    if len(kept) == len(found):
        return text
    without = splice(text, [entry.value for entry in found], kept)
    if without is not None and [entry.value for entry in entries(without)] == kept:
        return without
    return bundles.bundle_text(scenario)


def entries(text: str) -> list[BundleEntry]:
    """Return the documents of a text, Secrets among them. Raises BundleError."""
    return read_files([("", text)], Limits(size=max(1, 4 * len(text)))).entries


INTRODUCTION = 6_000  # characters that are shown
_NO_PROSE = re.compile(r"(?:yaml-language-server:|Source: |-\*-|!|[-=*#~]{3,}\s*$)")


def introduction(text: str) -> str:
    """Return the comment at the head of a text without comment marks; "" if there is none.

    It ends before the first line that is not a comment; rulers and the comments of editors and Helm are left
    out.
    """
    lines: list[str] = []
    length = 0
    for line in map(str.rstrip, io.StringIO(text.removeprefix(_BOM), newline=None)):
        if not line.startswith("#"):
            if (line and line != "---") or lines:
                break
            continue
        content = line[1:].removeprefix(" ")
        length += len(content) + 1
        if length >= INTRODUCTION:
            lines.append("…")
            break
        if not _NO_PROSE.match(content):
            lines.append(content)
    return "\n".join(lines).strip("\n")
