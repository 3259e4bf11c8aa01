"""Scripts against a live peer: they cause traffic and judge what only they can know, namely what they asked for."""
