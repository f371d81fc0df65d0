"""The site beside those of other versions, as a web server serves them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import publish_pages
from browser_runtime import MANIFEST

UNBUILT = ("index.html", "404.html", "llms.txt", "llms-full.txt", "sitemap.xml")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A built site of one page."""
    built = tmp_path / "site"
    (built / MANIFEST).parent.mkdir(parents=True)
    for name in (*UNBUILT, "versions.json"):
        (built / name).touch()
    (built / MANIFEST).write_text('{"wheel": "llama3_tools-0.1.0-py3-none-any.whl", "pyodide": "1"}', "utf-8")
    return built


def versions(served: Path) -> list[str]:
    listed = json.loads((served / "versions.json").read_text("utf-8"))
    return [" ".join([one["version"], *one["aliases"]]) for one in listed]


@pytest.mark.parametrize(
    ("published", "listed"),
    [
        pytest.param(["0.1.0", "0.1.0"], ["0.1.0 latest"], id="again"),
        pytest.param(["0.9.0", "0.10.0"], ["0.10.0 latest", "0.9.0"], id="by number"),
        pytest.param(["0.1.0", "0.2.0rc1"], ["0.2.0rc1", "0.1.0 latest"], id="a candidate is not the latest"),
        pytest.param(["0.2.0rc1", "0.2.0"], ["0.2.0 latest", "0.2.0rc1"], id="a release follows its candidate"),
        pytest.param(["0.1.0rc1"], ["0.1.0rc1"], id="no release"),
        pytest.param(["0.2.0", "0.1.1"], ["0.2.0 latest", "0.1.1"], id="a fix for an older version"),
    ],
)
def test_versions_are_listed_and_the_newest_release_is_the_latest(
    site: Path, tmp_path: Path, published: list[str], listed: list[str]
) -> None:
    served = tmp_path / "served"
    for version in published:
        (site / "index.html").write_text(version, "utf-8")
        publish_pages.publish(site, served, version)
    assert versions(served) == listed
    (latest,) = [one.split()[0] for one in listed if one.endswith("latest")] or [None]
    folder = "latest" if latest else published[0]
    assert (served / folder / "index.html").read_text("utf-8") == (latest or published[0])
    assert f"url={folder}/index.html" in (served / "index.html").read_text("utf-8")
    at_the_root = {path.name for path in served.iterdir() if path.is_file()}
    assert at_the_root == {".nojekyll", "versions.json", *UNBUILT}
    assert not (served / published[0] / "versions.json").exists()  # the switch reads that of the root


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (MANIFEST, '{"missing": "There was no npm."}', ["The page Try it has no Python. There was no npm."]),
        *((name, None, [f"site has no {name}: build it first, by `make docs`"]) for name in (*UNBUILT, MANIFEST)),
    ],
    ids=str,
)
def test_a_site_that_lacks_something_is_refused_and_replaces_nothing(
    site: Path, monkeypatch: pytest.MonkeyPatch, file: str | Path, text: str | None, said: list[str]
) -> None:
    if text is None:
        (site / file).unlink()
    else:
        (site / file).write_text(text, "utf-8")
    monkeypatch.chdir(site.parent)
    assert str(publish_pages.main(["site", "served", "0.1.0"])).splitlines() == said
    assert not Path("served").exists()
