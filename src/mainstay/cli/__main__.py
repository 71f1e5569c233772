"""`python -m mainstay.cli` is the program `mainstay`."""

from mainstay.cli import main

if __name__ == "__main__":
    main(prog_name="mainstay")
