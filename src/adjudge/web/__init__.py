"""The web interface: pages and a JSON API over a store, for one person's browser."""
