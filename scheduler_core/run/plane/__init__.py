"""The control plane of every run with controllers, and the objects that schedulers read there."""
