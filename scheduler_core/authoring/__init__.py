"""Tools for writing scenarios: forms, generators, examples, and edits of configurations."""
