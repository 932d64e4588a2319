"""The scheduler configuration as a separate text: parsed, validated, edited, converted to the other form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from playground.edits.configuration import changed as changed_by
from playground.edits.edit_operations import OBJECT_BYTES
from playground.edits.v1_37_form import form_of
from playground.storage import bundles
from scheduler_core.authoring.policy_edits import HEADS, POLICY_KIND
from scheduler_core.formats.locate import find_lines
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, PolicyError, Problem
from scheduler_core.kubernetes.readers import At, DocumentRoot, Report
from scheduler_core.scenario.load import read_text
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.conversion import Conversion, to_policy
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration, compile_profile
from scheduler_core.settings.release import CONFIGURATION_KIND, is_framework_document, row_of
from scheduler_core.settings.settings import DEFAULT_SETTINGS, SETTINGS_KIND, Settings, read_settings

Wire = dict[str, Any]
KINDS = (POLICY_KIND, CONFIGURATION_KIND)


NONE_YET: Wire = {"text": "", "kind": "", "errors": [], "warnings": [], "framework": None, "form": None}


def text_of(document: Document | None) -> str:
    """Return a document as the text shown beside the controls; "" for the DefaultProvider."""
    return write_yaml([document]).removeprefix("---\n") if document is not None else ""


def settings_of(fields: Mapping[str, Any]) -> Settings:
    """Return the settings in the fields of a SimulationSettings document; invalid fields are ignored."""
    document = {**HEADS[SETTINGS_KIND], **fields}
    return read_settings(document, At(Report(), None, DocumentRoot(SETTINGS_KIND)))


def policy_text(document: Document | None, settings: Settings, release: str = "") -> Wire:
    """Return the protocol's ``PolicyText`` of a valid document, or of what ``release`` runs without one."""
    return _TEXTS[row_of(release).form](document, settings, release)


def _text_of_policy(document: Document | None, settings: Settings, release: str) -> Wire:
    """Return what v1.11 or the framework runs."""
    del release
    return {
        **NONE_YET,
        "text": text_of(document),
        "kind": "" if document is None else str(document["kind"]),
        "profile": compile_profile(document, settings).summary(),
        "framework": _framework(document),
        "other": _other(document),
    }


def _text_of_plugins(document: Document | None, settings: Settings, release: str) -> Wire:
    """Return what v1.37 runs: the plugins of a configuration; of a Policy, which it does not read, none."""
    read = document if is_framework_document(document) else None
    summary = compile_profile(read, replace(settings, scheduler=release)).summary()
    unread = [] if read is document else [f"kube-scheduler v1.37 reads no {POLICY_KIND}: its defaults run."]
    return {
        **NONE_YET,
        "text": text_of(document),
        "kind": "" if document is None else str(document["kind"]),
        "profile": {**summary, "warnings": unread},
        "form": form_of(read, settings),
        "other": None,
    }


_TEXTS = {"policy": _text_of_policy, "plugins": _text_of_plugins}


def checked(text: str, settings: Settings) -> Wire:
    """Return the protocol's ``PolicyText`` of a typed text; with ``errors`` its other fields are empty."""
    if len(text) > OBJECT_BYTES:
        raise bundles.TooLargeError(f"A policy's YAML may have {OBJECT_BYTES:,} characters.")
    try:
        documents, warnings = _read(text, settings)
        document = documents[0] if documents else None
        answer = policy_text(document, settings, Configuration(document, settings).release)
    except BundleError as error:
        return {**_wrong(error.problems), "text": text}
    except PolicyError as error:
        return {**_wrong(error.problems), "text": text}
    return {**answer, "text": text, "warnings": bundles.problems_wire(warnings)}


def _wrong(problems: Sequence[Problem]) -> Wire:
    return {**NONE_YET, "errors": bundles.problems_wire(problems), "profile": None, "other": None}


def changed(text: str, change: tuple[str, str, str], settings: Settings = DEFAULT_SETTINGS) -> str:
    """Return a typed text with one change of :func:`playground.edits.configuration.changed`.

    Raises BundleError for an invalid text, and EditError.
    """
    documents, _ = _read(text, settings)
    release = Configuration(documents[0] if documents else None, settings).release
    beside = {**HEADS[SETTINGS_KIND], "featureGates": dict(settings.feature_gates)}
    after = changed_by(release, (*documents, beside), *change)
    return text_of(in_text(after))


def _read(
    text: str, settings: Settings = DEFAULT_SETTINGS
) -> tuple[tuple[Document, ...], tuple[Problem, ...]]:
    """Return the single document of a text, none if it is blank, and the warnings. Raises BundleError."""
    if not text.strip():
        return (), ()
    gates = dict(settings.feature_gates)
    read = read_text(text, scheduler=settings.scheduler, feature_gates=gates)
    strange = [
        (number, "a second document" if number > 1 else f"a {str(document.get('kind'))[:60]}")
        for number, document in enumerate(read.documents, 1)
        if number > 1 or document.get("kind") not in KINDS
    ]
    if strange:
        wanted = f"write one {POLICY_KIND} or {CONFIGURATION_KIND}"
        lines = find_lines(text, "yaml", [(number, ("kind",)) for number, _ in strange])
        raise BundleError(
            [
                Problem(
                    f"{what} is not allowed here: {wanted}", "kind", lines.get((number, ("kind",))), number
                )
                for number, what in strange
            ]
        )
    return read.documents, tuple(warning for warning in read.warnings if warning.line)


def read_one(text: str) -> Document | None:
    """Return the valid Policy or KubeSchedulerConfiguration of a text, ``None`` if it is blank.

    Raises BundleError with the lines of the text.
    """
    documents, _ = _read(text)
    if not documents:
        return None
    try:
        compile_profile(documents[0], DEFAULT_SETTINGS)
    except PolicyError as error:
        raise BundleError(error.problems) from error
    return documents[0]


def in_text(documents: Sequence[Document]) -> Document | None:
    """Return the Policy or KubeSchedulerConfiguration among the configuration documents; None without one."""
    return next((document for document in documents if document.get("kind") != SETTINGS_KIND), None)


def _framework(document: Document | None) -> Wire | None:
    """Return a KubeSchedulerConfiguration's profiles: plugins per extension point, and as written."""
    if document is None or document.get("kind") != CONFIGURATION_KIND:
        return None
    compiled = compile_configuration(document)
    written = document.get("profiles") or [{}]
    return {
        "version": compiled.version.name,
        "points": list(compiled.version.points),
        "profiles": [
            {
                "name": profile.scheduler_name,
                "points": {
                    point: [[plugin.name, plugin.weight] for plugin in plugins]
                    for point, plugins in profile.points.items()
                },
                "written": dict(_plugins(own)),
                "arguments": {config["name"]: config.get("args") for config in own.get("pluginConfig") or ()},
            }
            for profile, own in zip(compiled.profiles, written, strict=True)
        ],
    }


def _plugins(written: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a profile's entries by point: ``{point: {"enabled": [name…], "disabled": [name…]}}``."""
    return {
        point: {which: [entry["name"] for entry in own.get(which) or ()] for which in ("enabled", "disabled")}
        for point, own in (written.get("plugins") or {}).items()
    }


def _other(document: Document | None) -> Wire:
    """Convert a document to the other form, with the features lost in the conversion."""
    is_configuration = document is not None and document.get("kind") == CONFIGURATION_KIND
    conversion: Conversion
    if is_configuration:
        assert document is not None
        conversion = to_policy(document)
    else:
        conversion = from_policy(document)
    return {
        "kind": POLICY_KIND if is_configuration else CONFIGURATION_KIND,
        "text": text_of(conversion.document),
        "lost": list(conversion.lost),
        "notes": list(conversion.notes),
    }
