"""Places where an agent worked, as it left them."""
