"""Makes the README the package's description. Its links, relative here, lead to the repository at the version's tag.

The build calls it. The repository's address is that of `[project.urls]`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# `](docs/gateway.md)`, but not `](https://…)` and not `](#place)`. `!` is before an image.
_RELATIVE_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!\w+:|#)(?P<path>[^)\s]+)\)")


class PackageReadme(MetadataHookInterface):
    """Sets `readme`, which `pyproject.toml` lists as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the description to the package's metadata, which has the addresses and the version."""
        text = Path(self.root, "README.md").read_text("utf-8")
        described = absolute(text, metadata["urls"]["Source"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": described}


def absolute(text: str, repository: str, tag: str) -> str:
    """Return a page with its relative links made absolute: pages of the repository, and files for images.

    Examples:
        >>> absolute("[Reading](docs/reading.md), ![](docs/plot.svg)", "https://host/me/it", "v1.0.0")
        '[Reading](https://host/me/it/blob/v1.0.0/docs/reading.md), ![](https://host/me/it/raw/v1.0.0/docs/plot.svg)'
    """

    def link(found: re.Match[str]) -> str:
        view = "raw" if found["image"] else "blob"
        return f"{found['image']}[{found['text']}]({repository}/{view}/{tag}/{found['path']})"

    return _RELATIVE_LINK.sub(link, text)
