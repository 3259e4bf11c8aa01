"""A wire-protocol inspector and conformance tester for the Model Context Protocol."""

__version__ = "0.1.0"
