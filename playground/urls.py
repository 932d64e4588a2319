"""The URL configuration."""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import RedirectView

from playground.api import document, table
from playground.recordings import views as recordings
from playground.serving import health
from playground.views import (
    account,
    comparison,
    docs,
    examples,
    exports,
    greed,
    handout,
    imports,
    kit,
    learn,
    lesson_pages,
    lesson_rooms,
    lti,
    lti_deep_link,
    metrics,
    pictures,
    progress,
    reference,
    reference_cache,
    reference_descheduler,
    reference_firmament,
    reference_kube_batch,
    reference_plugins,
    reference_podgroups,
    reference_releases,
    reports,
    reviews,
    rooms,
    runs,
    schemas,
    start,
    stored_comparison,
    stored_items,
    sweeps,
    workbench,
)


class NameConverter(StringConverter):
    """An id: base64url characters, at most as many as in a digest."""

    regex = "[A-Za-z0-9_-]{1,43}"


class StepConverter(StringConverter):
    """A step: a cycle's number, ``major.minor``, or the end of a run."""

    regex = r"[0-9]{1,9}(?:\.[0-9]{1,9})?|end"


class SideConverter(StringConverter):
    """A side of a comparison."""

    regex = "left|right"


register_converter(NameConverter, "name")
register_converter(SideConverter, "side")
register_converter(StepConverter, "step")

urlpatterns = [
    path("", start.start),
    path("dev/kit/", kit.page),
    path("import/", start.import_bundle),
    path("import/<name:ticket>/", imports.progress),
    path("examples.json", examples.listing),
    path("examples/", RedirectView.as_view(url="/#examples")),
    path("examples/<slug:slug>/", examples.example),
    path("p/<name:name>/", workbench.draft),
    path("p/<name:name>/bundle", workbench.draft_bundle),
    path("s/<name:short>/", workbench.shared),
    path("s/<name:short>/review/", reviews.page),
    path("s/<name:short>/card.png", pictures.scenario_card),
    path("l/<name:name>/card.png", pictures.link_card),
    path("oembed", pictures.oembed),
    path("qr.svg", pictures.qr_code),
    path("e/<name:short>/", workbench.embedded),
    path("compare/", comparison.page),
    path("compare/share", stored_comparison.share),
    path("compare/runs", stored_comparison.runs),
    path("compare/cancel", stored_comparison.cancel),
    path("compare/<name:short>/", stored_comparison.page),
    path("compare/<name:short>/<side:side>/", stored_comparison.side),
    path("compare/<name:short>/<side:side>/bundle", stored_comparison.side_bundle),
    path("report", reports.download),
    path("picture", exports.picture),
    path("deck", exports.deck),
    path("recording", recordings.recording),
    path("l/<name:name>/", workbench.linked),
    path("l/<name:name>/bundle", workbench.link_bundle),
    path("r/<name:name>/", rooms.room),
    path("r/<name:name>/class/", rooms.overview),
    path("r/<name:name>/projector/", rooms.room, {"projector": True}),
    path("j/", rooms.join),
    path("j/<name:code>/", rooms.join),
    path("runs/", runs.runs),
    path("runs/<name:name>/", runs.run),
    path("runs/<name:name>/figures.json", runs.run_figures),
    path("runs/<name:name>/bundle", runs.run_bundle),
    path("runs/<name:name>/cancel", runs.run_cancel),
    path("runs/<name:name>/at/<step:step>/", workbench.run_step),
    path("sweeps/new/", sweeps.form),
    path("sweeps/<name:name>/", sweeps.page),
    path("sweeps/<name:name>/cells.json", sweeps.cells),
    path("sweeps/<name:name>/cancel", sweeps.cancel),
    path("sweeps/<name:name>/delete", sweeps.delete),
    path("stored/", stored_items.stored),
    path("stored/<slug:kind>/<name:name>/delete", stored_items.delete),
    path("account/", account.page),
    path("account/sign-in", account.sign_in),
    path("account/sign-up", account.sign_up),
    path("account/sign-out", account.sign_out),
    path("account/sign-out-elsewhere", account.sign_out_elsewhere),
    path("account/password", account.password),
    path("account/delete", account.delete),
    path("greed/", greed.page),
    path("learn/", learn.gallery),
    path("learn/author/", lesson_pages.listing),
    path("learn/author/import", lesson_pages.imported),
    path("learn/author/new", lesson_pages.created),
    path("learn/author/<name:name>/", lesson_pages.page),
    path("learn/author/<name:name>/state", lesson_pages.state),
    path("learn/author/<name:name>/change", lesson_pages.change),
    path("learn/author/<name:name>/problems", lesson_pages.problems),
    path("learn/author/<name:name>/stage", lesson_pages.stage),
    path("learn/author/<name:name>/propose", lesson_pages.propose),
    path("learn/author/<name:name>/export", lesson_pages.exported),
    path("learn/author/<name:name>/publish", lesson_pages.publish),
    path("learn/author/<name:name>/withdraw", lesson_pages.withdraw),
    path("learn/author/<name:name>/delete", lesson_pages.delete),
    path("learn/code/<str:code>/", learn.code),
    path("learn/progress", progress.exchange),
    path("learn/review/", learn.review),
    path("learn/review/<slug:slug>/<slug:stop>/<int:seed>/", learn.variant),
    path("learn/<slug:slug>/", learn.lesson),
    path("learn/<slug:slug>/done/", learn.done),
    path("learn/<slug:slug>/file/", recordings.lesson),
    path("learn/<slug:slug>/handout/", handout.handout),
    path("learn/<slug:slug>/teach/", lesson_rooms.teach),
    path("learn/<slug:slug>/<slug:stop>/", learn.stop),
    path("learn/<slug:slug>/<slug:stop>/embed/", learn.embedded),
    path("lti/jwks/", lti.key_set),
    path("lti/login/", lti.login),
    path("lti/launch/", lti.launch),
    path("lti/pick/", lti_deep_link.picked),
    path("lti/at/<name:name>/", lti.lesson),
    path("lti/at/<name:name>/done/", lti.done),
    path("lti/at/<name:name>/<slug:stop>/", lti.stop),
    path("lessons/", RedirectView.as_view(url="/learn/")),
    path("docs/", docs.document),
    path("docs/<path:name>", docs.document),
    path("reference/", RedirectView.as_view(url="/reference/predicates/")),
    path("reference/predicates/", reference.predicates),
    path("reference/plugins/", reference_plugins.page),
    path("reference/releases/", reference_releases.page),
    path("reference/cache/", reference_cache.page),
    path("reference/podgroups/", reference_podgroups.page),
    path("reference/kube-batch/", reference_kube_batch.page),
    path("reference/descheduler/", reference_descheduler.page),
    path("reference/firmament/", reference_firmament.page),
    path("schemas.json", schemas.document),
    path("api/", document.page),
    path("api/openapi.json", document.openapi),
    path("api/trace.schema.json", document.trace_schema),
    *table.urlpatterns(),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.exposition),
]

handler400 = "playground.serving.error_pages.bad_request"
handler403 = "playground.serving.error_pages.permission_denied"
handler404 = "playground.serving.error_pages.not_found"
handler500 = "playground.serving.error_pages.server_error"
