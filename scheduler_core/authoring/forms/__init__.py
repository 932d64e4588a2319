"""Objects from the few fields that people fill in: a table of kinds, their fields, and what they make."""

from scheduler_core.authoring.forms.fields import FormField, Problems, Values, read
from scheduler_core.authoring.forms.table import FORMS, Form

__all__ = ["FORMS", "Form", "FormField", "Problems", "Values", "read"]
