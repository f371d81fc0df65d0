"""Puts a built site beside those of other versions, as a web server serves them.

    python tools/publish_pages.py site PAGES 0.1.0

Each version has a folder of its name, and the newest release one more, `latest`. `PAGES/versions.json` is what the
site's own switch of versions reads; `PAGES/index.html` leads to the latest. A site that lacks
a file, or whose page *Try it* has no Python, is refused.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from packaging.version import Version

from browser_runtime import MANIFEST

_LATEST = "latest"
_VERSIONS = "versions.json"
_AT_THE_ROOT = ("404.html", "llms.txt", "llms-full.txt", "sitemap.xml")
"""What is looked for at the root, too; the links in it are absolute."""

_ROOT = """<!doctype html>
<meta charset="utf-8">
<title>llama3-tools</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<link rel="canonical" href="{folder}/index.html">
<a href="{folder}/index.html">llama3-tools</a>
"""


def publish(site: Path, pages: Path, version: str) -> None:
    """Put a site into the folder of its version, in place of what is there, and write down which versions there are.

    Raises:
        FileNotFoundError: the site lacks something.
        ValueError: the version is none. Nothing is changed.
    """
    own = Version(version)
    if wrong := missing(site):
        raise FileNotFoundError("\n".join(wrong))
    others = _published(pages)
    is_latest = not own.is_prerelease and all(one <= own or one.is_prerelease for one in others)
    for folder in [str(own), *([_LATEST] if is_latest else [])]:
        shutil.rmtree(pages / folder, ignore_errors=True)
        shutil.copytree(site, pages / folder, ignore=shutil.ignore_patterns(_VERSIONS))  # the site's own is of it alone
    versions = _published(pages)
    final = next((one for one in versions if not one.is_prerelease), None)
    listed = [
        {"version": str(one), "title": str(one), "aliases": [_LATEST] if one == final else []} for one in versions
    ]
    (pages / _VERSIONS).write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    first = _LATEST if final else str(versions[0])
    (pages / "index.html").write_text(_ROOT.format(folder=first), "utf-8")
    for name in _AT_THE_ROOT:
        shutil.copy(pages / first / name, pages / name)
    (pages / ".nojekyll").touch()  # GitHub would leave out files that begin with `_`


def missing(site: Path) -> list[str]:
    """Return what a site lacks, in sentences."""
    unbuilt = [name for name in ("index.html", MANIFEST, *_AT_THE_ROOT) if not (site / name).is_file()]
    if unbuilt:
        return [f"{site} has no {name}: build it first, by `make docs`" for name in unbuilt]
    runtime = json.loads((site / MANIFEST).read_text("utf-8"))
    return [f"The page Try it has no Python. {runtime['missing']}"] if "missing" in runtime else []


def _published(pages: Path) -> list[Version]:
    """Return the versions that are there, newest first."""
    return sorted((Version(page.parent.name) for page in pages.glob("[0-9]*/index.html")), reverse=True)


def main(arguments: list[str]) -> str | None:
    """Do what the arguments say. Return what is wrong."""
    parser = argparse.ArgumentParser(description="Put a built site beside those of other versions.")
    parser.add_argument("site", type=Path, help="the built site")
    parser.add_argument("pages", type=Path, metavar="PAGES", help="the folder that a web server serves")
    parser.add_argument("version", help="the version that the site is of")
    asked = parser.parse_args(arguments)
    try:
        publish(asked.site, asked.pages, asked.version)
    except (FileNotFoundError, ValueError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
