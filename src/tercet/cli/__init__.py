"""The command line: one module per command, imported only when the command runs; CONTRIBUTING.md says how to add one.

Results go to stdout, everything else to stderr. Errors from Python name parameters (`target=`); `_command` turns them
into the options of the command that runs (`--target`).
"""
