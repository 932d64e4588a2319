from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("playground", "0030_services"),
    ]

    operations = [
        migrations.AddField(
            model_name="room",
            name="scene",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="room",
            name="changed",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="roomaudience",
            name="lost",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="roomperson",
            name="lost",
            field=models.CharField(blank=True, max_length=120),
        ),
    ]
