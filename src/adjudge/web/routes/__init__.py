"""Routes: what is asked for by an address, handed to a query, and shown as a page or as JSON."""
