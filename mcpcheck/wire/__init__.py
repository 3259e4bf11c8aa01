"""Bytes, records and events: what passed between two peers, without an opinion on it and without I/O."""
