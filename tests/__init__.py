"""Tests of mcpcheck."""
