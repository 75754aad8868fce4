"""Files in and out: scores, labels and keys become Trials; tables are written whole or not at all."""

from tercet.io._digests import fingerprint
from tercet.io._plain_files import stdin_file
from tercet.io.read import read, read_chunks, read_decisions
from tercet.io.write import write_table, write_tables, write_text_atomically

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
