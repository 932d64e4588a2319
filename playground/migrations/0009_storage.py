"""What quotas count and retention looks at. What is there already is kept as long as if it were opened now."""

from datetime import timedelta

import django.utils.timezone
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Length

import playground.models
from playground.limits import limit

KEPT = {"Draft": "DRAFT_DAYS", "Scenario": "LINK_DAYS", "Run": "RUN_DAYS"}


def measure_and_date(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Count the bytes of each row, and date each as if it were opened now.

    Shipped examples lose the date again when they are next asked for, or before they would be removed.
    """

    def rows(name: str) -> models.QuerySet:
        return apps.get_model("playground", name).objects.using(schema_editor.connection.alias)

    for name, days in KEPT.items():
        rows(name).update(expires=django.utils.timezone.now() + timedelta(days=limit(days)))
    rows("Draft").update(packed=Length("files"))
    rows("Scenario").update(packed=Length("content") + Coalesce(Length("text"), 0))
    chunks = rows("RunChunk").filter(run=OuterRef("pk")).order_by().values("run")
    size = Sum(Length("data") + Coalesce(Length("messages"), 0))
    rows("Run").update(packed=Coalesce(Subquery(chunks.annotate(bytes=size).values("bytes")), 0))


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0008_run_queue"),
    ]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="address",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="draft",
            name="expires",
            field=models.DateTimeField(default=playground.models.draft_expiry),
        ),
        migrations.AddField(
            model_name="draft",
            name="packed",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="expires",
            field=models.DateTimeField(default=playground.models.run_expiry),
        ),
        migrations.AddField(
            model_name="run",
            name="packed",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="scenario",
            name="expires",
            field=models.DateTimeField(default=playground.models.link_expiry, null=True),
        ),
        migrations.AddField(
            model_name="scenario",
            name="packed",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="share",
            name="address",
            field=models.CharField(blank=True, db_index=True, max_length=64),
        ),
        migrations.AlterField(
            model_name="share",
            name="owner",
            field=models.CharField(blank=True, db_index=True, max_length=64),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(fields=["owner", "packed"], name="draft_owner_packed"),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(fields=["address", "packed"], name="draft_address_packed"),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(fields=["expires"], name="draft_expires"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["owner", "packed"], name="run_owner_packed"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["address", "packed"], name="run_address_packed"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["expires"], name="run_expires"),
        ),
        migrations.AddIndex(
            model_name="scenario",
            index=models.Index(fields=["packed"], name="scenario_packed"),
        ),
        migrations.AddIndex(
            model_name="scenario",
            index=models.Index(fields=["expires"], name="scenario_expires"),
        ),
        migrations.RunPython(measure_and_date, migrations.RunPython.noop),
    ]
