"""The schema of the YAML editor: the fields of every supported kind, with descriptions and values."""
