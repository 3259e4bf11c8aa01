"""Rules of Streamable HTTP: requests, answers, event streams, headers, and x-mcp-header annotations."""
