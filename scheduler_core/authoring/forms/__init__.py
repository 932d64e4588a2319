"""Objects from the few fields that users fill in: a table of kinds, their fields, and the manifests."""

from scheduler_core.authoring.forms.fields import FormField, Problems, Values, read
from scheduler_core.authoring.forms.table import FORMS, ManifestForm

__all__ = ["FORMS", "FormField", "ManifestForm", "Problems", "Values", "read"]
