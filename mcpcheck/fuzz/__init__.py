"""Generated sessions against a live server: valid messages, and one small departure each."""
