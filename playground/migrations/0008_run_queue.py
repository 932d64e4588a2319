"""The queue of a run, since when it waits, and when its visitor had a turn; which queues a worker serves."""

import django.utils.timezone
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

import playground.queues


def waiting_since_created(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let the runs that are there keep the order in which they were started."""
    runs = apps.get_model("playground", "Run").objects.using(schema_editor.connection.alias)
    runs.update(queued=F("created"), claimed=F("started"))


class Migration(migrations.Migration):
    dependencies = [("playground", "0007_draft_text_revision")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="queue",
            field=models.CharField(
                choices=[("short", "short"), ("long", "long")], default="long", max_length=8
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="queued",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name="run",
            name="claimed",
            field=models.DateTimeField(db_index=True, null=True),
        ),
        migrations.AddField(
            model_name="worker",
            name="queues",
            field=models.JSONField(default=playground.queues.all_queues),
        ),
        migrations.RunPython(waiting_since_created, migrations.RunPython.noop),
    ]
