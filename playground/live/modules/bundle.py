"""``bundle.…``: checking a text, changing its configuration, adding to it, and opening it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from playground.calls.requests import Request, Text
from playground.edits.additions import added
from playground.edits.configuration import configured
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.refusals import refusals, refused_edit
from playground.playback import sources
from playground.protocol.answers import CheckedBundleWire, ConfiguredWire, OpenedBundleWire
from playground.protocol.generators import RewrittenWire
from playground.storage import bundles, draft_names, privacy, store, texts
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.history import Moment
from scheduler_core.settings.release import RELEASES


class BundleCheck(Request):
    text: Text


@command("bundle.check", BundleCheck, answers=CheckedBundleWire, latest=1, large=True)
async def check(call: Call[BundleCheck]) -> Answer:
    """Return the errors and the contents of a text; nothing is stored."""
    return await call.in_pool(checked, call.payload.text)


def checked(text: str) -> dict[str, Any]:
    """Return the errors and the contents of a text."""
    try:
        scenario = bundles.parse([("", text)])
    except BundleError as error:
        return {
            "errors": bundles.problems_wire(error.problems),
            "warnings": bundles.problems_wire(error.warnings),
            "summary": {},
        }
    return {
        "errors": [],
        "warnings": bundles.problems_wire(scenario.warnings),
        "summary": dict(scenario.summary or {}),
    }


class BundleConfigure(Request):
    text: Text
    what: Text
    key: Text
    value: Text
    step: Text | None = None


@command("bundle.configure", BundleConfigure, answers=ConfiguredWire, latest=1, large=True)
async def configure(call: Call[BundleConfigure]) -> Answer:
    """Return a text with one change to its scheduler's configuration; nothing is stored."""
    return await call.in_pool(_configured, call.payload, call.moment())


def _configured(payload: BundleConfigure, moment: Moment | None) -> dict[str, Any]:
    try:
        with refusals("step"):
            return configured(payload.text, payload.what, payload.key, payload.value, moment)
    except EditError as error:
        raise refused_edit(error) from error


class BundleAdd(Request):
    text: Text
    documents: Text
    step: Text | None = None


@command("bundle.add", BundleAdd, answers=RewrittenWire, latest=1, large=True)
async def add(call: Call[BundleAdd]) -> Answer:
    """Return a text with documents added; nothing is stored."""
    return await call.in_pool(_added, call.payload, call.moment())


def _added(payload: BundleAdd, moment: Moment | None) -> dict[str, Any]:
    with refusals("step"):
        return added(payload.text, payload.documents, moment)


class BundleOpen(Request):
    text: Text
    title: Text | None = None
    release: Text | None = None
    keep: Text | None = None


@command(
    "bundle.open",
    BundleOpen,
    answers=OpenedBundleWire,
    visitor=True,
    large=True,
    throttle="IMPORTS_PER_MINUTE",
)
async def open_bundle(call: Call[BundleOpen]) -> Answer:
    """Create a draft from a text that can be parsed; ``release`` is the one that answered it.

    Env values, command lines and Secrets' data are stored only if ``keep`` is "yes".
    """
    release = call.payload.release or ""
    if release not in ("", *RELEASES):
        raise CommandError(
            "payload.invalid", f"release must be one of {', '.join(RELEASES)}.", field="release"
        )
    title = call.payload.title or ""
    return await call.in_engine(
        _open, call.payload.text, title, call.visitor, release, call.payload.keep == "yes"
    )


def _open(text: str, title: str, visitor: str, release: str, keep: bool = False) -> dict[str, Any]:
    text = texts.answered_then(text, release)
    bundles.parse([("", text)])
    left = privacy.Contents()
    if not keep:
        text, left = privacy.private_text(text)
    scenario = bundles.parse([("", text)])
    scenario = replace(scenario, title=store.clean_title(title) or draft_names.named(scenario))
    bundles.ask_on()
    draft = store.create_draft(visitor, [("", text)], scenario.title)
    sources.seed(draft, scenario)
    return {
        "draft": draft.pk,
        "url": f"/p/{draft.pk}/",
        "left": left.private(),
        "warnings": bundles.problems_wire(scenario.warnings),
        "summary": dict(scenario.summary or {}),
    }
