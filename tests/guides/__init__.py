"""The guides docs/adding-a-….md, followed literally."""
