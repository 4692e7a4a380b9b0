"""The repositories, and what two agents do in each of them."""
