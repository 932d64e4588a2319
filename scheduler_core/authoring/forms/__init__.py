"""Objects from the few fields that users fill in: a table of kinds, their fields, and the manifests."""

from scheduler_core.authoring.forms.fields import FormField, Problems, Values, read
from scheduler_core.authoring.forms.table import FORMS, Form

__all__ = ["FORMS", "Form", "FormField", "Problems", "Values", "read"]
