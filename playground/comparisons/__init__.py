"""Two scenarios, drafts or runs side by side."""
