"""What the traffic of a session has established so far."""
