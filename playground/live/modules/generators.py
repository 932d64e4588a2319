"""``form…``, ``cluster.…``, ``nodes.…``: objects by form, clusters by recipe, many nodes at once."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from playground.calls.requests import Fields, OfSource, Request, Text
from playground.edits.bulk import Bulk, changed, previewed
from playground.edits.cluster_generator import generated, generator, is_large
from playground.edits.object_forms import UnknownKindError, forms, made
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.live.refusals import refusals
from playground.playback import sources
from playground.playback.playback import Playback
from playground.protocol.answers import FormListWire, MadeClusterWire
from playground.protocol.generators import (
    BulkPreviewWire,
    FormDraftWire,
    GeneratedClusterWire,
    RecipesWire,
    RewrittenWire,
)
from playground.storage import bundles, draft_names, store
from playground.wire import Encoded, encode
from scheduler_core.authoring.recipes import Recipe
from scheduler_core.scenario.history import Moment


@command("forms.list", Request, answers=FormListWire, framed="step")
async def listed(call: Call[Request]) -> Answer:
    """Return the forms of all kinds, the same for all sources."""
    return {"forms": forms()}


class FormDraft(OfSource):
    kind: Text
    fields: Fields
    step: Text | None = None


@command("form.draft", FormDraft, answers=FormDraftWire, latest=1)
async def drafted(call: Call[FormDraft]) -> Answer:
    """Return the documents of a form, and the errors in its fields."""
    payload = call.payload
    moment = call.moment()

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        try:
            return Encoded(encode(made(playback.scenario, moment, payload.kind, payload.fields)))
        except UnknownKindError as error:
            raise CommandError("payload.invalid", str(error), field="kind") from error

    return await call.in_turns(turn)


@command("cluster.recipes", Request, answers=RecipesWire)
async def recipes(call: Call[Request]) -> Answer:
    """Return the possible fields of a recipe, and sample recipes."""
    return generator()


ClusterRecipe = Annotated[Recipe, Meta(description="an object, the recipe of a cluster")]


class ClusterGenerate(Request):
    recipe: ClusterRecipe
    whole: Text | None = None


@command("cluster.generate", ClusterGenerate, answers=GeneratedClusterWire, latest=1)
async def cluster(call: Call[ClusterGenerate]) -> Answer:
    """Return the cluster of a recipe, or its first part; nothing is stored."""
    whole = call.payload.whole == "true"
    recipe = call.payload.recipe
    return await call.in_pool(_generated, recipe, whole, large=is_large(recipe))


def _generated(recipe: Recipe, whole: bool) -> dict[str, Any]:
    return generated(recipe, whole=whole)


class ClusterCreate(Request):
    recipe: ClusterRecipe
    title: Text | None = None


@command(
    "cluster.create", ClusterCreate, answers=MadeClusterWire, visitor=True, throttle="IMPORTS_PER_MINUTE"
)
async def create(call: Call[ClusterCreate]) -> Answer:
    """Create a draft of a generated cluster."""
    recipe, title = call.payload.recipe, call.payload.title or ""
    large = is_large(recipe)
    made = await call.in_pool(_generated, recipe, True, large=large)
    return await call.in_engine(_created, made, title, call.visitor, large=large)


def _created(made: dict[str, Any], title: str, visitor: str) -> dict[str, Any]:
    if made["errors"]:
        raise CommandError("payload.invalid", made["errors"][0]["message"], field=made["errors"][0]["field"])
    scenario = bundles.parse([("", made["bundle"])], store.clean_title(title))
    scenario = replace(scenario, title=scenario.title or draft_names.named(scenario))
    draft = store.create_draft(visitor, [("", made["bundle"])], scenario.title)
    sources.seed(draft, scenario)
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "summary": made["summary"]}


def _bulk(payload: NodesPreview | BundleBulk) -> Bulk:
    return Bulk(
        payload.by,
        payload.which,
        payload.what,
        payload.key or "",
        payload.value or "",
    )


class NodesPreview(OfSource):
    by: Text
    which: Text
    what: Text
    key: Text | None = None
    value: Text | None = None
    step: Text | None = None


@command("nodes.preview", NodesPreview, answers=BulkPreviewWire, latest=1)
async def preview(call: Call[NodesPreview]) -> Answer:
    """Return the nodes that a bulk change selects, and its effect on the first few of them."""
    payload = call.payload
    moment = call.moment()

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded:
        return Encoded(encode(previewed(playback.scenario, moment, _bulk(payload))))

    return await call.in_turns(turn)


class BundleBulk(Request):
    text: Text
    by: Text
    which: Text
    what: Text
    key: Text | None = None
    value: Text | None = None
    step: Text | None = None


@command("bundle.bulk", BundleBulk, answers=RewrittenWire, latest=1, large=True)
async def bulk(call: Call[BundleBulk]) -> Answer:
    """Return a text with many nodes changed; nothing is stored."""
    return await call.in_pool(_changed, call.payload, call.moment())


def _changed(payload: BundleBulk, moment: Moment | None) -> dict[str, Any]:
    with refusals():
        return changed(payload.text, _bulk(payload), moment)
