"""The command line: `main` parses, one function per command does the work."""
