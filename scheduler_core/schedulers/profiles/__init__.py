"""What the schedulers that filter and score run: a Profile, and the protocols of its rules."""
