"""``policy.…``: the parts of a policy, and the configuration document, read, checked and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.calls.requests import OfSource, Request, Text
from playground.edits.configuration import in_force
from playground.edits.policies import changed, checked, in_text, policy_text, settings_of
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.live.refusals import refusals, refused_edit
from playground.playback.playback import Playback
from playground.protocol.answers import ChangedPolicyWire
from playground.protocol.catalogue import CatalogueWire, PolicyDocumentWire
from playground.reference import catalogue
from playground.storage import bundles
from playground.wire import Encoded, encode
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.settings.feature_gates import parse_gates
from scheduler_core.settings.settings import SETTINGS_KIND, Settings


@command("policy.catalogue", Request, answers=CatalogueWire, framed="step")
async def tables(call: Call[Request]) -> Answer:
    """Return every predicate and priority; the answer is the same for all sources."""
    return catalogue.wire()


class PolicyText(OfSource):
    step: Text | None = None


@command("policy.text", PolicyText, answers=PolicyDocumentWire, latest=1, framed="step", unveiled=True)
async def text(call: Call[PolicyText]) -> Answer:
    """Return the document in force at the start or after a step, with its effect."""
    moment = call.moment()

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        with refusals("step"):
            documents = in_force(playback.scenario, moment)
        own: Mapping[str, Any] = next((d for d in documents if d["kind"] == SETTINGS_KIND), {})
        answer = policy_text(in_text(documents), settings_of(own), playback.scenario.release)
        return Encoded(encode(answer))

    return await call.in_turns(turn)


class PolicyCheck(Request):
    text: Text
    order: Text | None = None
    quirks: Text | None = None
    scheduler: Text | None = None
    gates: Text | None = None


@command("policy.check", PolicyCheck, answers=PolicyDocumentWire, latest=1)
async def check(call: Call[PolicyCheck]) -> Answer:
    """Return the errors of a document being edited, by line, or its effect."""
    return await call.in_engine(_checked, call.payload)


def _checked(payload: PolicyCheck) -> dict[str, Any]:
    return checked(payload.text, _settings_beside(payload))


def _settings_beside(payload: PolicyCheck | PolicyChange) -> Settings:
    """Return the settings beside a document being edited; ``gates`` are as ``A=true,B=false``."""
    given: dict[str, Any] = {"scheduler": payload.scheduler or None}
    if isinstance(payload, PolicyCheck):
        given |= {"predicateOrder": payload.order, "quirks": payload.quirks}
    try:
        given["featureGates"] = parse_gates(payload.gates or "") or None
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="gates") from error
    return settings_of({name: value for name, value in given.items() if value is not None})


class PolicyChange(Request):
    text: Text
    what: Text
    key: Text
    value: Text
    scheduler: Text | None = None
    gates: Text | None = None


@command("policy.change", PolicyChange, answers=ChangedPolicyWire, latest=1)
async def change(call: Call[PolicyChange]) -> Answer:
    """Return a document being edited with one change of ``bundle.configure``; nothing is stored."""
    return await call.in_engine(_changed, call.payload)


def _changed(payload: PolicyChange) -> dict[str, Any]:
    change = (payload.what, payload.key, payload.value)
    try:
        return {"text": changed(payload.text, change, _settings_beside(payload))}
    except EditError as error:
        raise refused_edit(error) from error
    except BundleError as error:
        wrong = bundles.problems_wire(error.problems)
        raise CommandError("object.invalid", str(error), errors=wrong) from error
