"""What the YAML editor knows: the fields of every kind that is read, with their words and their values."""
