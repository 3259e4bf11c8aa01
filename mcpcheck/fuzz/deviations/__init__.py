"""The deviations, by what they bend: the envelope, params and _meta, the text, the HTTP headers."""
