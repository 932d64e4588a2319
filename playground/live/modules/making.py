"""``form…``, ``cluster.…``, ``nodes.…``: objects by form, clusters by recipe, many nodes at once."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from playground.edits.bulk import Bulk, changed, previewed
from playground.edits.generating import generated, generator, is_large
from playground.edits.object_forms import UnknownKindError, forms, made
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.live.refusals import refusals
from playground.playback import sources
from playground.playback.playback import Playback
from playground.protocol.answers import FormListWire, MadeClusterWire
from playground.protocol.making import (
    BulkPreviewWire,
    FormDraftWire,
    GeneratedClusterWire,
    RecipesWire,
    RewrittenWire,
)
from playground.storage import bundles, naming, store
from playground.wire import Encoded, encode
from scheduler_core.scenario.history import Moment


@command("forms.list", answers=FormListWire)
async def listed(call: Call) -> Answer:
    """Return the forms of all kinds, the same for all sources."""
    return {"forms": forms()}


@command(
    "form.draft", answers=FormDraftWire, source="source", latest=1, kind="text", fields="object", step="text?"
)
async def drafted(call: Call) -> Answer:
    """Return the documents of a form, and the errors in its fields."""
    payload = call.payload
    moment = call.moment()

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        try:
            return Encoded(encode(made(playback.scenario, moment, payload["kind"], payload["fields"])))
        except UnknownKindError as error:
            raise CommandError("payload.invalid", str(error), field="kind") from error

    return await call.in_turns(turn)


@command("cluster.recipes", answers=RecipesWire)
async def recipes(call: Call) -> Answer:
    """Return the possible fields of a recipe, and sample recipes."""
    return generator()


@command("cluster.generate", answers=GeneratedClusterWire, latest=1, recipe="object", whole="text?")
async def cluster(call: Call) -> Answer:
    """Return the cluster of a recipe, or its first part; nothing is stored."""
    whole = call.payload.get("whole") == "true"
    recipe = call.payload["recipe"]
    return await call.in_pool(_generated, recipe, whole, large=is_large(recipe))


def _generated(recipe: dict[str, Any], whole: bool) -> dict[str, Any]:
    return generated(recipe, whole=whole)


@command(
    "cluster.create",
    answers=MadeClusterWire,
    visitor=True,
    throttle="IMPORTS_PER_MINUTE",
    recipe="object",
    title="text?",
)
async def create(call: Call) -> Answer:
    """Create a draft of a generated cluster."""
    recipe, title = call.payload["recipe"], call.payload.get("title") or ""
    large = is_large(recipe)
    made = await call.in_pool(_generated, recipe, True, large=large)
    return await call.in_engine(_created, made, title, call.visitor, large=large)


def _created(made: dict[str, Any], title: str, visitor: str) -> dict[str, Any]:
    if made["errors"]:
        raise CommandError("payload.invalid", made["errors"][0]["message"], field=made["errors"][0]["field"])
    scenario = bundles.parse([("", made["bundle"])], store.clean_title(title))
    scenario = replace(scenario, title=scenario.title or naming.named(scenario))
    draft = store.create_draft(visitor, [("", made["bundle"])], scenario.title)
    sources.seed(draft, scenario)
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "summary": made["summary"]}


def _bulk(payload: dict[str, Any]) -> Bulk:
    return Bulk(
        payload["by"],
        payload["which"],
        payload["what"],
        payload.get("key") or "",
        payload.get("value") or "",
    )


@command(
    "nodes.preview",
    answers=BulkPreviewWire,
    source="source",
    latest=1,
    by="text",
    which="text",
    what="text",
    key="text?",
    value="text?",
    step="text?",
)
async def preview(call: Call) -> Answer:
    """Return the nodes that a bulk change selects, and its effect on the first few of them."""
    payload = call.payload
    moment = call.moment()

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        return Encoded(encode(previewed(playback.scenario, moment, _bulk(payload))))

    return await call.in_turns(turn)


@command(
    "bundle.bulk",
    answers=RewrittenWire,
    latest=1,
    large=True,
    text="text",
    by="text",
    which="text",
    what="text",
    key="text?",
    value="text?",
    step="text?",
)
async def bulk(call: Call) -> Answer:
    """Return a text with many nodes changed; nothing is stored."""
    return await call.in_pool(_changed, call.payload, call.moment())


def _changed(payload: dict[str, Any], moment: Moment | None) -> dict[str, Any]:
    with refusals():
        return changed(payload["text"], _bulk(payload), moment)
