"""The scheduling framework in virtual time: a clock, the three queues, waiting pods, extension points."""
