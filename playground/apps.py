"""The Django application configuration."""

from django.apps import AppConfig


class PlaygroundConfig(AppConfig):
    """The configuration of the podstep application."""

    name = "playground"
    verbose_name = "podstep"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Approve of the extenders that the settings name."""
        from django.contrib.contenttypes.management import create_contenttypes
        from django.db.models.signals import post_migrate

        from playground import extenders

        extenders.install()
        # Nobody has permissions of Django's: without its admin, their rows would be written for nothing.
        post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
        post_migrate.disconnect(create_contenttypes)
