"""Puts a built site beside those of other versions: each in a folder of its name, and the newest in `latest`.

    python tools/publish_pages.py site PAGES 0.1.0

`PAGES` is what a web server serves. Its `versions.json` is what the site's own switch of versions reads, and its
`index.html` leads to `latest`, or to the newest folder there is. A site that assistants or search engines could not
read is refused, and one whose page *Try it* has no Python.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from browser_runtime import MANIFEST
from release import VERSION, is_prerelease, order

LATEST = "latest"
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


def publish(site: Path, pages: Path, folder: str) -> None:
    """Put a site into a folder of the pages, in place of what is there, and write down which versions there are.

    Raises:
        FileNotFoundError: the site lacks something.
        ValueError: the folder is named neither as a version nor `latest`. Nothing is changed.
    """
    if folder != LATEST and not VERSION.fullmatch(folder):
        raise ValueError(f"{folder!r} is no folder of a version: name it as in 0.1.0, or {LATEST}")
    if wrong := missing(site):
        raise FileNotFoundError("\n".join(wrong))
    shutil.rmtree(pages / folder, ignore_errors=True)
    shutil.copytree(site, pages / folder, ignore=shutil.ignore_patterns(_VERSIONS))  # the site's own is of it alone
    versions = listed(pages)
    (pages / _VERSIONS).write_text(json.dumps(versions, indent=1) + "\n", "utf-8")
    first = LATEST if (pages / LATEST).exists() else str(versions[0]["version"])
    (pages / "index.html").write_text(_ROOT.format(folder=first), "utf-8")
    for name in _AT_THE_ROOT:
        shutil.copy(pages / first / name, pages / name)
    (pages / ".nojekyll").touch()  # GitHub would leave out files that begin with `_`


def missing(site: Path) -> list[str]:
    """Return what a site lacks for people, assistants and search engines, in sentences."""
    unbuilt = [name for name in ("index.html", *_AT_THE_ROOT) if not (site / name).is_file()]
    if unbuilt:
        return [f"{site} has no {name}: build it first, by `make docs`" for name in unbuilt]
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
    names = [path.parent.name for path in pages.glob("*/index.html")]
    versions = sorted(filter(VERSION.fullmatch, names), key=order, reverse=True)
    final = next((name for name in versions if not is_prerelease(name)), None)
    return [
        {"version": name, "title": name, "aliases": [LATEST] if name == final and LATEST in names else []}
        for name in versions or [LATEST]
    ]


def main(arguments: list[str]) -> str | None:
    """Do what the arguments say. Return what is wrong."""
    parser = argparse.ArgumentParser(description="Put a built site beside those of other versions.")
    parser.add_argument("site", type=Path, help="the built site")
    parser.add_argument("pages", type=Path, metavar="PAGES", help="the folder that a web server serves")
    parser.add_argument("folder", help=f"the folder in it: a version, or {LATEST}")
    asked = parser.parse_args(arguments)
    try:
        publish(asked.site, asked.pages, asked.folder)
    except (FileNotFoundError, ValueError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
