"""Puts a built site beside those of other versions: each in a folder of its name, and the newest in `latest`.

    python tools/publish_pages.py site PAGES 0.1.0

`PAGES` is what a web server serves. Its `versions.json` is what the site's own switch of versions reads, and its
`index.html` leads to `latest`, or to the newest folder there is. A site that assistants or search engines could not
read is refused, and one whose page *Try it* has no Python.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from browser_runtime import MANIFEST
from release import is_prerelease

LATEST = "latest"

_ROOT = """<!doctype html>
<meta charset="utf-8">
<title>llama3-tools</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<link rel="canonical" href="{folder}/index.html">
<a href="{folder}/index.html">llama3-tools</a>
"""


def publish(site: Path, pages: Path, folder: str) -> None:
    """Put a site into a folder of the pages, in place of what is there, and write down which versions there are."""
    if wrong := missing(site):
        raise FileNotFoundError("\n".join(wrong))
    shutil.rmtree(pages / folder, ignore_errors=True)
    shutil.copytree(site, pages / folder)
    versions = listed(pages)
    (pages / "versions.json").write_text(json.dumps(versions, indent=1) + "\n", "utf-8")
    first = LATEST if (pages / LATEST).exists() else str(versions[0]["version"])
    (pages / "index.html").write_text(_ROOT.format(folder=first), "utf-8")
    for name in (
        "404.html",
        "llms.txt",
        "llms-full.txt",
        "sitemap.xml",
    ):  # looked for at the root; their links are absolute
        shutil.copy(pages / first / name, pages / name)
    (pages / ".nojekyll").touch()  # GitHub would leave out files that begin with `_`


def missing(site: Path) -> list[str]:
    """Return what a site lacks for people, assistants and search engines, in sentences."""
    if not (site / "index.html").exists():
        return [f"{site} has no index.html: build it first, by `make docs`"]
    manifest = site / MANIFEST
    runtime = (
        json.loads(manifest.read_text("utf-8")) if manifest.exists() else {"missing": "`make docs` puts it there."}
    )
    texts = {name: (site / name).read_text("utf-8") for name in ("llms.txt", "sitemap.xml")}
    pages = [path.relative_to(site) for path in sorted(site.rglob("*.html"))]
    pages = [path for path in pages if path.name != "404.html" and path.parts[0] != "assets"]
    plain = [path.with_suffix(".md") for path in pages]
    return [
        *([f"The page Try it has no Python. {runtime['missing']}"] if "missing" in runtime else []),
        *(f"{path} has no Markdown beside it" for path in pages if not (site / path).with_suffix(".md").exists()),
        *(
            f"llms.txt does not name {path}: zensical.toml lists it"
            for path in plain
            if f"/{path}>" not in texts["llms.txt"]
        ),
        *(f"sitemap.xml does not name {path}" for path in pages if f"/{path}<" not in texts["sitemap.xml"]),
    ]


def listed(pages: Path) -> list[dict[str, object]]:
    """Return the versions that are there, newest first, as the site's switch takes them."""
    names = sorted((path.parent.name for path in pages.glob("*/index.html")), key=_order, reverse=True)
    versions = [name for name in names if name != LATEST]
    final = next((name for name in versions if not is_prerelease(name)), None)
    return [
        {"version": name, "title": name, "aliases": [LATEST] if name == final and LATEST in names else []}
        for name in versions or names
    ]


def _order(version: str) -> list[tuple[int, str]]:
    """Return what sorts 0.10.0 after 0.9.0, and 0.10.0rc1 before 0.10.0."""
    parts = re.findall(r"\d+|[a-z]+", version)
    return [*((int(part), "") if part.isdigit() else (-1, part) for part in parts), (0, "")]


if __name__ == "__main__":
    try:
        publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    except FileNotFoundError as error:
        sys.exit(str(error))
