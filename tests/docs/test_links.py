"""A built site is searched for dead links: the builder does not see those of files that a page includes."""

from __future__ import annotations

from pathlib import Path

from check_links import dead_links


def test_links_to_files_that_are_not_there_are_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "page.html").write_text(
        '<a href="../index.html#top">1</a> <a class="x" href="gone.html">2</a> <img alt="" src="../a%20b.png">', "utf-8"
    )
    (tmp_path / "a b.png").write_text("", "utf-8")
    (tmp_path / "index.html").write_text(
        '<a href="#top">1</a> <a href="https://example.org/">2</a> <a href="docs/try-it.html">3</a> <a href="sub"></a>',
        "utf-8",
    )
    assert list(dead_links(tmp_path)) == ["index.html: docs/try-it.html", "sub/page.html: gone.html"]
