"""Files in and out: scores, labels and keys become Trials; tables are written whole or not at all."""

from tercet.sources.fingerprints import fingerprint
from tercet.sources.opened import stdin_file
from tercet.sources.reading import read, read_chunks, read_decisions
from tercet.sources.writing import write_table, write_tables, write_text_atomically

__all__ = [
    "fingerprint",
    "read",
    "read_chunks",
    "read_decisions",
    "stdin_file",
    "write_table",
    "write_tables",
    "write_text_atomically",
]
