"""Rules of authorization over HTTP, as far as a recording of the MCP server's own origin shows it.

An authorization server elsewhere is not seen, and nothing of it is judged. Nor is OAuth traffic that has nothing to do
with the protocol: a request to authorize or for a token counts once the token that came of it is used on the endpoint.
"""
