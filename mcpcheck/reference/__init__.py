"""A good server of every revision, without I/O, with one overridable method for each behaviour."""
