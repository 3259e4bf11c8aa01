"""The only code that opens a process or a socket. It moves bytes and notes records; it knows no messages."""
