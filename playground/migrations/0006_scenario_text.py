"""Scenarios keep the text that they were read from; those of before have none and keep their address."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0005_run_unplaced"),
    ]

    operations = [
        migrations.AddField(
            model_name="scenario",
            name="text",
            field=models.BinaryField(null=True),
        ),
    ]
