"""Rules of the base protocol: messages, requests, responses, results, errors, notifications and _meta."""
