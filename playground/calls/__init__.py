"""What socket commands and API routes share: requests as structs, and the faults in them."""
