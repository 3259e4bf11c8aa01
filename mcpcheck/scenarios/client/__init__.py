"""Scripts against a client: a scripted server meets it, and what it sent is judged."""
