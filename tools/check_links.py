"""Finds links of a built site that lead to no file of it.

    python tools/check_links.py site

The builder checks the links between pages as they are written. What it cannot see is a link in a file of the repository
that a page includes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LINK = re.compile(r'<(?:a|img|script|link)\b[^>]*?\s(?:href|src)="([^"]*)"')


def dead_links(site: Path) -> Iterator[str]:
    """Yield each link to a file that is not there, with the page that has it."""
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":  # its links begin at the root of a web server
            continue
        for link in sorted(set(_LINK.findall(page.read_text("utf-8")))):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (page.parent / unquote(parts.path)).exists():
                yield f"{page.relative_to(site)}: {link}"


if __name__ == "__main__":
    found = list(dead_links(Path(sys.argv[1])))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(f"{len(found)} links lead to no file." if found else 0)
