"""Scripts against a server of 2026-07-28, one module per area."""
