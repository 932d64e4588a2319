from django.db import migrations, models

import scheduler_core.settings.release

FORMER = "v1.11"  # answered every draft that says nothing until the release was stored


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0014_comments"),
    ]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="presumed",
            field=models.CharField(default=FORMER, max_length=16),
        ),
        migrations.AlterField(
            model_name="draft",
            name="presumed",
            field=models.CharField(default=scheduler_core.settings.release.default_release, max_length=16),
        ),
    ]
