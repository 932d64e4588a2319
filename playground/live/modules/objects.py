"""``object.…``, ``objects.…`` and ``operations.…``: live objects after a step, and changing them there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from playground.calls.requests import Fields, OfSource, Request, Text
from playground.edits.edit_initial import amended
from playground.edits.edit_operations import OBJECT_BYTES, OperationEdit, key_of_target, operated, typed
from playground.edits.podgroup_forms import drafted
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.live.refusals import refusals
from playground.panels.objects import entry_of, object_at, objects, operations
from playground.panels.operation_effects import outcome_of
from playground.playback.playback import SLICE_SECONDS, OutOfRangeError, Playback
from playground.protocol.answers import (
    AmendedTextWire,
    ObjectListWire,
    ObjectTextWire,
    OperatedWire,
    OperationEffectWire,
    OperationListWire,
    OperationTextWire,
)
from playground.protocol.generators import GroupDraftWire, ObjectRecordWire
from playground.storage import bundles
from playground.wire import Encoded, encode
from scheduler_core.authoring.revisions import RevisionError, revised
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.scenario.history import Moment

T = TypeVar("T")


async def at_step(call: Call[Any], read: Callable[[Playback, int], T]) -> T:
    """Return the result of ``read`` at the cycle of the call's step, computing forward if needed."""
    step = call.payload.step

    def turn(playback: Playback, _unwanted: Unwanted) -> T | None:
        try:
            index = 0 if step == "1.0" else playback.resolve(step)
        except ValueError as error:
            raise CommandError("payload.invalid", str(error), field="step") from error
        if index is not None:
            return read(playback, index)
        if playback.advance(SLICE_SECONDS):
            return None
        index = playback.resolve(step)
        if index is None:
            raise OutOfRangeError(f"There is no cycle {step[:24]}; there are {len(playback):,}.")
        return read(playback, index)

    return await call.in_turns(turn)


class ObjectGet(OfSource):
    target: Text
    step: Text


@command("object.get", ObjectGet, answers=ObjectRecordWire, latest=1, framed="step", unveiled=True)
async def get(call: Call[ObjectGet]) -> Answer:
    """Return an object's manifest as operations have left it after a step."""
    target = call.payload.target

    def read(playback: Playback, index: int) -> Encoded:
        with refusals():
            found = object_at(playback, key_of_target(target), index)
        if found is None:
            step = playback.trail.step(index)
            raise CommandError("object.not-found", f"There is no {target[:120]} after {step}.")
        if len(found["yaml"]) > OBJECT_BYTES:
            raise bundles.TooLargeError(f"{target} has more than {OBJECT_BYTES:,} characters of YAML.")
        return Encoded(encode(found))

    return await at_step(call, read)


class ObjectsList(OfSource):
    step: Text


@command("objects.list", ObjectsList, answers=ObjectListWire, latest=1, framed="step", unveiled=True)
async def listed(call: Call[ObjectsList]) -> Answer:
    """Return the names of all objects but nodes and pods that exist after a step."""
    return await at_step(call, lambda playback, index: Encoded(encode(objects(playback, index))))


class GroupDraft(OfSource):
    fields: Fields
    step: Text | None = None


@command("group.draft", GroupDraft, answers=GroupDraftWire, latest=1)
async def group(call: Call[GroupDraft]) -> Answer:
    """Return the documents of a PodGroup and its workload, and the errors in their fields."""
    payload, moment = call.payload, call.moment()

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        return Encoded(encode(drafted(playback.scenario, moment, payload.fields)))

    return await call.in_turns(turn)


@command("operations.list", OfSource, answers=OperationListWire, latest=1, framed="step", unveiled=True)
async def history(call: Call[OfSource]) -> Answer:
    """Return the scenario's operations, each with the cycle after which it is applied."""

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        return Encoded(encode(operations(playback)))

    return await call.in_turns(turn)


class OperationsGet(OfSource):
    id: Text


@command("operations.get", OperationsGet, answers=OperationTextWire, latest=1, framed="step", unveiled=True)
async def entry(call: Call[OperationsGet]) -> Answer:
    """Return one operation as YAML."""
    name = call.payload.id

    def turn(playback: Playback, _unwanted: Unwanted) -> dict[str, Any]:
        found = entry_of(playback, name)
        if found is None:
            raise CommandError("object.not-found", f"There is no operation {name[:60]!r}.")
        if len(found) > OBJECT_BYTES:
            raise bundles.TooLargeError(f"The operation has more than {OBJECT_BYTES:,} characters of YAML.")
        return {"id": name, "yaml": found}

    return await call.in_turns(turn)


class OperationsOutcome(OfSource):
    id: Text


@command("operations.outcome", OperationsOutcome, answers=OperationEffectWire, latest=2, framed="run")
async def outcome(call: Call[OperationsOutcome]) -> Answer:
    """Return the effect of one operation when it was applied, or why it had none."""
    name = call.payload.id

    def turn(playback: Playback, unwanted: Unwanted) -> dict[str, Any] | None:
        if playback.advance(SLICE_SECONDS):
            return None
        found = outcome_of(playback, name, unwanted)
        if found is None:
            raise CommandError("object.not-found", f"There is no operation {name[:60]!r}.")
        return {"id": name, **found}

    return await call.in_turns(turn)


class ObjectRevise(Request):
    object: Text
    what: Text
    key: Text | None = None
    value: Text | None = None


@command("object.revise", ObjectRevise, answers=ObjectTextWire, latest=1, large=True)
async def revise(call: Call[ObjectRevise]) -> Answer:
    """Return a manifest with one of the common changes; nothing is stored."""
    payload = call.payload
    if len(payload.object) > OBJECT_BYTES:
        raise bundles.TooLargeError(f"An object's YAML may have {OBJECT_BYTES:,} characters.")
    change = (payload.what, payload.key or "", payload.value or "")
    return await call.in_engine(_revised, payload.object, change)


def _revised(text: str, change: tuple[str, str, str]) -> dict[str, Any]:
    try:
        with refusals():
            made = revised(typed(text), *change)
    except RevisionError as error:
        raise CommandError("payload.invalid", str(error), field="value") from error
    return {"object": write_yaml([made]).removeprefix("---\n")}


class BundleOperate(Request):
    text: Text
    action: Text
    step: Text | None = None
    during: Text | None = None
    target: Text | None = None
    object: Text | None = None
    base: Text | None = None
    id: Text | None = None
    landed: Text | None = None
    seconds: Text | None = None


@command("bundle.operate", BundleOperate, answers=OperatedWire, latest=1, large=True)
async def operate(call: Call[BundleOperate]) -> Answer:
    """Return a text with one change to its history; nothing is stored."""
    return await call.in_pool(_operated, call.payload, call.moment(), call.moment("landed"))


class BundleAmend(Request):
    text: Text
    target: Text
    object: Text | None = None
    base: Text | None = None


@command("bundle.amend", BundleAmend, answers=AmendedTextWire, latest=1, large=True)
async def amend(call: Call[BundleAmend]) -> Answer:
    """Return a text with one object changed or removed from the start; nothing is stored."""
    return await call.in_pool(_amended, call.payload)


def _amended(payload: BundleAmend) -> dict[str, Any]:
    with refusals():
        return amended(payload.text, payload.target, payload.object, payload.base or "")


def _operated(payload: BundleOperate, moment: Moment | None, landed: Moment | None) -> dict[str, Any]:
    given = {name: getattr(payload, name) or "" for name in ("target", "object", "base", "id", "seconds")}
    with refusals():
        return operated(payload.text, OperationEdit(payload.action, moment, landed=landed, **given))
