"""The server side of podstep: connections, the data folder, the environment and process supervision."""
