"""Run a scenario: one core, driven either at a single instant or in virtual time."""
