"""A draft that lets time pass and names no scheduler keeps v1.22, which answered it before v1.37 did."""

import json
from contextlib import suppress

from django.db import migrations

from playground.storage import bundles
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.settings.release import TIMED, VIRTUAL


def keep_release(apps, schema_editor):
    """Presume v1.22 for the drafts whose release followed from the time of their settings alone."""
    drafts = apps.get_model("playground", "Draft").objects.using(schema_editor.connection.alias)
    for key in drafts.values_list("pk", flat=True):
        row = drafts.get(pk=key)
        packed = bundles.unpack(row.files)
        if VIRTUAL.encode() in packed and _chooses_by_time(json.loads(packed)):
            drafts.filter(pk=key).update(presumed=TIMED)


def _chooses_by_time(files):
    with suppress(BundleError, bundles.TooLargeError):
        scenario = bundles.parse([(name, text) for name, text in files])
        return not scenario.said_release and scenario.settings.is_virtual
    return False


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0018_ended_sessions"),
    ]

    operations = [migrations.RunPython(keep_release, migrations.RunPython.noop)]
