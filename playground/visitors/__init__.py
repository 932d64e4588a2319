"""Who a request comes from, and what that visitor may do."""
