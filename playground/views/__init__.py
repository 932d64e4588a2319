"""The pages. Each view documents its template and the template's context."""
