"""The command `tamis`: the native front end, with Python's readers added."""

import os
import sys


def main():
    from . import _core
    from ._foreign import open_for_core, save_for_core

    words = [b"tamis", *map(os.fsencode, sys.argv[1:])]
    sys.exit(_core.run_command(words, open_for_core, save_for_core))


if __name__ == "__main__":
    main()
