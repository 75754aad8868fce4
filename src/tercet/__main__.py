"""`python -m tercet` is the same as the command `tercet`."""

from tercet.cli.entry import main

if __name__ == "__main__":
    main()
