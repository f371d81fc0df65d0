"""What each example says if a package is missing, for `--help` as well: which one, and the line that installs it.

It has to be imported before all that may be missing.
"""

from __future__ import annotations

import sys
from types import TracebackType

_show = sys.excepthook


def _explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, ModuleNotFoundError):
        print(f"{error}: in the clone of llama3-tools, run pip install '.[demo]'", file=sys.stderr)
    else:
        _show(kind, error, trace)


sys.excepthook = _explain


if __name__ == "__main__":
    print("This is what the examples share: run quickstart.py or langchain_agent.py, for example", file=sys.stderr)
    sys.exit(2)
