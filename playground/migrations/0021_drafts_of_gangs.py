"""A draft whose KubeSchedulerConfiguration v1 names Coscheduling keeps v1.22, which answered it so far."""

import json
from contextlib import suppress

from django.db import migrations

from playground.storage import bundles, texts
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.settings.release import TIMED


def keep_release(apps, schema_editor):
    """Write v1.22 into the drafts that v1.37 would answer because it runs the plugin too."""
    drafts = apps.get_model("playground", "Draft").objects.using(schema_editor.connection.alias)
    for key in drafts.values_list("pk", flat=True):
        row = drafts.get(pk=key)
        packed = bundles.unpack(row.files)
        if b"Coscheduling" not in packed:
            continue
        files = json.loads(packed)
        named = _named(files)
        if named != files:
            made = bundles.pack(json.dumps(named).encode())
            drafts.filter(pk=key).update(files=made, packed=len(made))


def _named(files):
    with suppress(BundleError, bundles.TooLargeError):
        scenario = bundles.parse([(name, text) for name, text in files])
        if texts.was_of_framework(scenario):
            whole = texts.joined(files, scenario)
            return [["", texts.answered_by(whole, scenario.documents, TIMED)]]
    return files


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0020_run_checkpoints"),
    ]

    operations = [migrations.RunPython(keep_release, migrations.RunPython.noop)]
