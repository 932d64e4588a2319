"""The Django application configuration."""

from django.apps import AppConfig


class PlaygroundConfig(AppConfig):
    """The configuration of the podstep application."""

    name = "playground"
    verbose_name = "podstep"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Approve of the extenders that the settings name."""
        from playground import extenders

        extenders.install()
