"""Keep why a run's pods could not be placed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0004_draft_branches"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="unplaced",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="runchunk",
            name="messages",
            field=models.BinaryField(null=True),
        ),
    ]
