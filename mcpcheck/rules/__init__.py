"""The passive judgement: one module per first part of an id, one small function per requirement."""
