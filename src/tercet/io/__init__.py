"""Files in and out: scores, labels and keys become Trials; tables are written whole or not at all."""

from tercet.io import score_sets as score_sets
from tercet.io._plain_files import fingerprint, stdin_file
from tercet.io.read import read, read_chunks, read_decisions
from tercet.io.source import open_source
from tercet.io.write import columns_like, write_like, write_table, write_tables, write_text_atomically

__all__ = [
    "columns_like",
    "fingerprint",
    "open_source",
    "read",
    "read_chunks",
    "read_decisions",
    "stdin_file",
    "write_like",
    "write_table",
    "write_tables",
    "write_text_atomically",
]
