"""What the programs of the cookbook share: `--base-url`, `--model`, and the embedded endpoint without them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from endpoints import live
from endpoints.program import run

__all__ = ["live", "run"]
