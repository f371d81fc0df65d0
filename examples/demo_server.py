"""Keeps the embedded endpoint on a port, so that the snippets of the pages run as printed, without a model.

python examples/demo_server.py                  # on port 11434, where Ollama would be
python examples/demo_server.py --port 8000      # where vLLM would be
"""

from __future__ import annotations

import argparse
import sys
import threading

from endpoints.demo import MODEL, demo_server


def main() -> int:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=11434, help="where to listen (default: %(default)s)")
    port = parser.parse_args().port
    try:
        with demo_server(port) as server:
            print(f"base_url  {server.base_url}")
            print(f"model     {MODEL}")
            print(f"try       python examples/cookbook/approval.py --base-url {server.base_url} --model {MODEL}")
            print(
                "This is no model: it plays one for the examples and the pages' snippets. Ctrl-C stops it.", flush=True
            )
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(f"Port {port} cannot be used ({error.strerror}). Ollama may be there.")
        print('Take another: --port NUMBER, or make demo-server ARGS="--port NUMBER"')
    return 1


if __name__ == "__main__":
    sys.exit(main())
