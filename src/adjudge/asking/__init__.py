"""Questions in plain words over a store, answered in statements that code has checked."""
