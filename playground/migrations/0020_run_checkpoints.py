"""Packed simulations of a run, with which late cycles open without a replay from the first one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0019_drafts_in_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="RunCheckpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cycle", models.PositiveIntegerField()),
                ("data", models.BinaryField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checkpoints",
                        to="playground.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("run", "cycle"), name="one_checkpoint_per_cycle")
                ],
            },
        ),
    ]
