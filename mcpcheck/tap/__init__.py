"""Between two peers: forwards what they send, unchanged and at once, and records it afterwards."""
