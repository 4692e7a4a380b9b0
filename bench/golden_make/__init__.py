"""How the runs in `bench/golden` were made: the stories, the machine they happened on, and the formats of recordings."""
