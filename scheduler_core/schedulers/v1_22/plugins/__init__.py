"""The plugins of the scheduling framework, one module or package each."""
