"""Whether a platform says that who launched a lesson teaches it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add ``LtiLaunch.teaches``."""

    dependencies = [("playground", "0028_progress")]

    operations = [
        migrations.AddField("ltilaunch", "teaches", models.BooleanField(default=False)),
    ]
