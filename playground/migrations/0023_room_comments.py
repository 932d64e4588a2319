"""A comment may be a room's; those before are their scenario's."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0022_room_codes"),
    ]

    operations = [
        migrations.AddField(
            "comment",
            "room",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="comments",
                to="playground.room",
            ),
        ),
    ]
