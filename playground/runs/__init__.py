"""Long runs: started by a visitor, computed by a worker, visible to everyone with the link."""
