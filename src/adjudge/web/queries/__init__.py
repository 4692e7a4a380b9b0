"""What pages and the JSON API ask of a store: both use these, so that they cannot differ."""
