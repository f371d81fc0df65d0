"""Runs a module as a program that ends when its standard input does: no server outlives the one who started it.

Usage: python attached.py MODULE [ARGUMENT …]
"""

from __future__ import annotations

import os
import runpy
import sys
import threading


def _end_with_standard_input() -> None:
    while os.read(0, 4096):  # not sys.stdin, which would be locked when the program ends before it
        pass
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    sys.path.pop(0)  # this folder, where Python put it: its modules are not the program's
    sys.argv.pop(0)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
