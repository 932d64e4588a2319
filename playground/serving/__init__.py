"""What runs podstep: connections, the data folder, the environment, and messages between processes."""
