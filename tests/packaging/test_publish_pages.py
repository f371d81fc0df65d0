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
    """A built site of two pages."""
    built = tmp_path / "site"
    for name in ("index", "api/core"):
        page = built / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(name, "utf-8")
        page.with_suffix(".md").write_text(name, "utf-8")
    (built / MANIFEST).parent.mkdir(parents=True)
    (built / MANIFEST).write_text('{"wheel": "llama3_tools-0.1.0-py3-none-any.whl", "pyodide": "1"}', "utf-8")
    (built / "404.html").touch()
    (built / "llms-full.txt").touch()
    (built / "llms.txt").write_text("- [A](<https://host/index.md>)\n- [B](<https://host/api/core.md>)\n", "utf-8")
    (built / "sitemap.xml").write_text(
        "<loc>https://host/index.html</loc><loc>https://host/api/core.html</loc>", "utf-8"
    )
    return built


def versions(served: Path) -> list[tuple[str, list[str]]]:
    listed = json.loads((served / "versions.json").read_text("utf-8"))
    assert all(one["title"] == one["version"] for one in listed)
    return [(one["version"], one["aliases"]) for one in listed]


@pytest.mark.parametrize(
    ("folders", "listed"),
    [
        (["0.1.0", "latest"], [("0.1.0", ["latest"])]),
        (["0.1.0", "latest", "0.1.0", "latest"], [("0.1.0", ["latest"])]),
        (["0.9.0", "latest", "0.10.0", "latest"], [("0.10.0", ["latest"]), ("0.9.0", [])]),
        (["0.1.0", "latest", "0.2.0rc1"], [("0.2.0rc1", []), ("0.1.0", ["latest"])]),
        (["0.2.0rc1", "0.2.0", "latest"], [("0.2.0", ["latest"]), ("0.2.0rc1", [])]),
        (["0.1.0rc1"], [("0.1.0rc1", [])]),
        (["latest"], [("latest", [])]),
        (["1.0.0.post1", "1.0.0", "latest"], [("1.0.0.post1", ["latest"]), ("1.0.0", [])]),
        (["0.2.0", "latest", "0.1.1"], [("0.2.0", ["latest"]), ("0.1.1", [])]),
    ],
    ids=[
        "first",
        "again",
        "by number",
        "a candidate is not the latest",
        "a release follows its candidate",
        "no release",
        "the latest alone",
        "a release is followed by what is posted after it",
        "a fix for an older version",
    ],
)
def test_versions_are_listed_newest_first(
    site: Path, tmp_path: Path, folders: list[str], listed: list[tuple[str, list[str]]]
) -> None:
    served = tmp_path / "served"
    for folder in folders:
        publish_pages.publish(site, served, folder)
    assert versions(served) == listed


def test_the_root_leads_to_the_latest(site: Path, tmp_path: Path) -> None:
    served = tmp_path / "served"
    publish_pages.publish(site, served, "0.1.0rc1")
    assert "url=0.1.0rc1/index.html" in (served / "index.html").read_text("utf-8")
    publish_pages.publish(site, served, "0.1.0")
    publish_pages.publish(site, served, "latest")
    assert "url=latest/index.html" in (served / "index.html").read_text("utf-8")
    assert {path.name for path in served.iterdir() if path.is_file()} == {
        ".nojekyll",
        "404.html",
        "index.html",
        "llms.txt",
        "llms-full.txt",
        "sitemap.xml",
        "versions.json",
    }


def test_what_the_switch_reads_of_a_site_alone_is_not_published_in_a_folder(site: Path, tmp_path: Path) -> None:
    (site / "versions.json").write_text('[{"version": ".", "title": "this build", "aliases": []}]', "utf-8")
    publish_pages.publish(site, tmp_path / "served", "0.1.0")
    assert not (tmp_path / "served" / "0.1.0" / "versions.json").exists()
    assert versions(tmp_path / "served") == [("0.1.0", [])]


def test_a_page_that_is_gone_is_gone(site: Path, tmp_path: Path) -> None:
    served = tmp_path / "served"
    publish_pages.publish(site, served, "latest")
    for file in ("api/core.html", "api/core.md"):
        (site / file).unlink()
    publish_pages.publish(site, served, "latest")
    assert not (served / "latest" / "api" / "core.html").exists()


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("api/core.md", None, ["api/core.html has no Markdown beside it"]),
        ("llms.txt", "- [A](<https://host/index.md>)", ["llms.txt does not name api/core.md: zensical.toml lists it"]),
        ("sitemap.xml", "<loc>https://host/index.html</loc>", ["sitemap.xml does not name api/core.html"]),
        (
            MANIFEST,
            '{"missing": "There was no npm."}',
            ["The page Try it has no Python. There was no npm."],
        ),
        (MANIFEST, None, ["The page Try it has no Python. `make docs` puts it there."]),
        *((name, None, [f"site has no {name}: build it first, by `make docs`"]) for name in UNBUILT),
    ],
    ids=["Markdown", "in llms.txt", "in sitemap.xml", "no Python", "no manifest", *UNBUILT],
)
def test_a_site_that_lacks_something_is_refused(
    site: Path, monkeypatch: pytest.MonkeyPatch, file: str | Path, text: str | None, said: list[str]
) -> None:
    if text is None:
        (site / file).unlink()
    else:
        (site / file).write_text(text, "utf-8")
    monkeypatch.chdir(site.parent)
    with pytest.raises(FileNotFoundError) as raised:
        publish_pages.publish(Path("site"), Path("served"), "latest")
    assert str(raised.value).splitlines() == said


@pytest.mark.parametrize("folder", ["../keep", "", ".", "..", "0.1.0/..", "/", "v0.1.0", "<b>", "latest ", "0.1.0\n"])
def test_a_folder_that_is_no_version_is_refused_and_nothing_is_deleted(site: Path, tmp_path: Path, folder: str) -> None:
    served, keep = tmp_path / "served", tmp_path / "keep" / "index.html"
    keep.parent.mkdir()
    keep.touch()
    publish_pages.publish(site, served, "0.1.0")
    before = sorted(served.rglob("*"))
    said = publish_pages.main([str(site), str(served), folder])
    assert said == f"{folder!r} is no folder of a version: name it as in 0.1.0, or latest"
    assert keep.exists()
    assert sorted(served.rglob("*")) == before


def test_a_folder_of_something_else_is_no_version(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "served" / "<i>other" / "index.html"
    other.parent.mkdir(parents=True)
    other.touch()
    publish_pages.publish(site, tmp_path / "served", "0.1.0rc1")
    assert versions(tmp_path / "served") == [("0.1.0rc1", [])]
    assert "url=0.1.0rc1/index.html" in (tmp_path / "served" / "index.html").read_text("utf-8")


def test_a_site_that_is_refused_replaces_nothing(site: Path, tmp_path: Path) -> None:
    publish_pages.publish(site, tmp_path / "served", "0.1.0")
    (site / "404.html").unlink()
    said = publish_pages.main([str(site), str(tmp_path / "served"), "0.1.0"])
    assert said == f"{site} has no 404.html: build it first, by `make docs`"
    assert (tmp_path / "served" / "0.1.0" / "404.html").exists()


def test_without_words_it_says_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        publish_pages.main([])
    assert "site PAGES folder" in capsys.readouterr().err
