"""The command line: one module per command, imported only when the command runs.

How to add a command
--------------------
1. Write `tercet/cli/NAME.py` (for `tercet two-words`: `two_words.py`). Its command object is called `command`:

       @new_command()
       @click.argument("scores", nargs=-1, required=True)
       @shared.source_options()
       @option("--level", type=float, needs=("ci",), help="...")
       def command(scores: tuple[str, ...], source: Facts, **options: Value) -> None:
           \"\"\"One sentence that --help shows.\"\"\"

   A function with `source_options` is given the reading options as one `source`, one with `format_options` the format
   as `output`.

   Modules whose name begins with an underscore hold what commands share.
2. Add a line to `COMMANDS` in `main.py`: the name and the first sentence of the docstring, so that `tercet --help`
   needs no import. A test compares both, and runs the option-pair test over the new command by itself.
3. A command parses, calls one function of tercet and renders. It returns nothing unless its exit code is another than
   0 (1 is raised as a TercetError, 2 as click.UsageError, 3 is for a gate that fails). No computation lives here.

What is shared
--------------
`_command`   `new_command` and `option`. An option that makes no sense alone or with others declares it: `needs=` (one
             of these options must be given at least), `excludes=` (none of these), `meanings=` (only with these
             meanings of scores). What is declared is checked before the command runs; nothing is ignored in silence.
             `parse=` makes a value of what was typed (`numbers`, `level`, `application` of `_values`).
`_options`   groups of options that several commands take: sources, applications, engines, resampling.
`_values`    words to values: numbers, applications, sizes, levels.
`_systems`   `System`, the one record per system, and the reading of files.
`_output`    `say` (stderr, unless --quiet), `log` (stderr, with --verbose), progress bars, `print_rows` (rows as
             a table in any format), `save` and `draw` (files and figures, with a note where they are).

Results go to stdout, everything else to stderr. Errors from Python name parameters (`target=`); `_command` turns them
into the options of the command that runs (`--target`).
"""
