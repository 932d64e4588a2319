"""A room has six letters to join it by while it runs, and keeps what was asked and how people answered."""

from django.db import migrations, models

import playground.models


def give_codes(apps, schema_editor):
    """Give each room that runs a code of its own: a default would be the same for all rows."""
    rooms = apps.get_model("playground", "Room").objects.using(schema_editor.connection.alias)
    taken = set()
    for key in rooms.filter(ended=None).values_list("pk", flat=True):
        while (code := playground.models.new_room_code()) in taken:
            pass
        taken.add(code)
        rooms.filter(pk=key).update(code=code)


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0021_drafts_of_gangs"),
    ]

    operations = [
        migrations.AddField("room", "history", models.JSONField(default=list)),
        migrations.AddField("room", "code", models.CharField(max_length=12, blank=True, default="")),
        migrations.RunPython(give_codes, migrations.RunPython.noop),
        migrations.AlterField(
            "room",
            "code",
            models.CharField(default=playground.models.new_room_code, max_length=12, blank=True),
        ),
        migrations.AddConstraint(
            "room",
            models.UniqueConstraint(fields=["code"], condition=~models.Q(code=""), name="one_room_per_code"),
        ),
    ]
