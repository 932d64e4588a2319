"""The application's entry in Django's registry."""

from django.apps import AppConfig


class PlaygroundConfig(AppConfig):
    """podstep as Django knows it."""

    name = "playground"
    verbose_name = "podstep"
    default_auto_field = "django.db.models.BigAutoField"
