"""tasks: the Tasks extension of 2026-07-28, and the experimental tasks of 2025-11-25 (legacy.tasks)."""
