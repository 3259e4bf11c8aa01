"""The requirements and schemas of specs/, loaded and checked."""
