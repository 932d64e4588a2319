"""Lessons that visitors write, and the shares that let their learners see the scenarios."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import playground.models


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0023_room_comments"),
    ]

    operations = [
        migrations.CreateModel(
            "AuthoredLesson",
            [
                (
                    "id",
                    models.CharField(
                        default=playground.models.new_lesson_id,
                        editable=False,
                        max_length=32,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "link",
                    models.CharField(
                        default=playground.models.new_lesson_id, editable=False, max_length=32, unique=True
                    ),
                ),
                ("owner", models.CharField(db_index=True, max_length=64)),
                ("address", models.CharField(blank=True, max_length=64)),
                ("title", models.CharField(blank=True, max_length=200)),
                ("folder", models.CharField(max_length=60)),
                ("files", models.BinaryField()),
                ("published", models.BinaryField(null=True)),
                ("packed", models.PositiveBigIntegerField(default=0)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("published_revision", models.PositiveIntegerField(default=0)),
                ("created", models.DateTimeField(default=django.utils.timezone.now)),
                ("updated", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("expires", models.DateTimeField(default=playground.models.lesson_expiry)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["owner", "packed"], name="lesson_owner_packed"),
                    models.Index(fields=["address", "packed"], name="lesson_address_packed"),
                    models.Index(fields=["expires"], name="lesson_expires"),
                ],
            },
        ),
        migrations.AddField(
            "share",
            "lesson",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="shares",
                to="playground.authoredlesson",
            ),
        ),
    ]
