"""What a release needs of this tree stands in one place, or stands the same everywhere."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import llama3_tools
import package_readme
import release

ROOT = Path(__file__).parents[2]
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SITE = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
ADDRESS = re.compile(r"https://(?:github\.com/(?P<account>[\w-]+)|(?P<host>[\w-]+)\.github\.io)/llama3-tools\b")
# Package indexes are reached by their clients. Said in parts, so that this file has none of them.
REGISTRY = re.compile(
    "|".join([r"pypi\." + "org", r"python" + "hosted", r"npmjs\." + "(?:com|org)", r"anaconda\." + "org"])
)
IS_A_TEXT = {"", ".cff", ".cfg", ".css", ".html", ".js", ".json", ".md", ".mjs", ".py", ".toml", ".yaml", ".yml"}


def texts() -> list[Path]:
    """The files of the project that hold text of people and programs."""
    return [path for path in release.files(ROOT) if path.suffix in IS_A_TEXT]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what the release tool reads."""
    for path in texts():
        if path.suffix in {".cff", ".md", ".toml", ".yml"} or path.name == "_version.py":
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def dated(root: Path) -> None:
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    changelog.write_text(re.sub(r"^(## \S+ \u2013) .*", r"\1 2030-12-31", text, count=1, flags=re.MULTILINE), "utf-8")


def test_the_version_stands_in_one_place() -> None:
    assert "version" in PROJECT["dynamic"]
    assert release.version(ROOT) == llama3_tools.__version__
    assert re.search(r"^(version|date-released):", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE) is None


def test_the_changelog_begins_with_this_version() -> None:
    assert release.notes(ROOT).strip()


def test_the_repository_and_the_site_have_one_address_everywhere() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), match["account"] or match["host"])
        for path in texts()
        for match in ADDRESS.finditer(path.read_text("utf-8"))
        if not path.is_relative_to(ROOT / "tests") and path != ROOT / "tools" / "release.py"
    }
    (account,) = {account.lower() for _, account in found}
    assert ADDRESS.match(PROJECT["urls"]["Source"])
    assert PROJECT["urls"]["Documentation"] == f"{SITE['site_url']}latest/"
    assert {"pyproject.toml", "zensical.toml", "CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml"} <= {
        name for name, _ in found
    }, account


def test_no_file_names_the_host_of_a_package_index() -> None:
    named = {path.relative_to(ROOT).as_posix() for path in texts() if REGISTRY.search(path.read_text("utf-8"))}
    assert named == set()


def test_the_description_of_the_package_has_no_relative_link() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    made = package_readme.absolute(text, PROJECT["urls"]["Source"], "v1.0.0")
    targets = re.findall(r"\]\(([^)\s]+)\)", made)
    assert [target for target in targets if not target.startswith(("https://", "http://", "#"))] == []
    assert f"{PROJECT['urls']['Source']}/blob/v1.0.0/CONTRIBUTING.md" in targets


def test_what_keeps_a_tree_from_being_released_is_said(copy: Path) -> None:
    changelog = copy / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    here = release.version(copy)
    changelog.write_text(re.sub(r"^(## \S+ \u2013) .*", r"\1 unreleased", text, count=1, flags=re.MULTILINE), "utf-8")
    (copy / "CITATION.cff").write_text(f"url: https://{release.OWNER}.github.io", "utf-8")
    assert [said.partition(":")[0] for said in release.problems(copy, "v9.9.9")][:2] == [
        f"CHANGELOG.md says that {here} is unreleased",
        f"the tag v9.9.9 is not v{here}",
    ]
    assert any(release.OWNER in said and "CITATION.cff" in said for said in release.problems(copy))


def test_a_section_of_another_version_is_no_notes(copy: Path) -> None:
    changelog = copy / "CHANGELOG.md"
    changelog.write_text(
        "# Changelog\n\n## 9.9.9 \u2013 2030-12-31\n\n- New.\n\n## 9.9.8 \u2013 2030-11-30\n\n- Old.\n", "utf-8"
    )
    with pytest.raises(ValueError, match=r"begins with 9\.9\.9"):
        release.notes(copy)
    (copy / "shared" / "llama3_tools" / "_version.py").write_text('__version__ = "9.9.9"\n', "utf-8")
    assert release.notes(copy) == "- New.\n"


def test_a_hyphen_is_as_good_as_a_dash_in_a_heading(copy: Path) -> None:
    here = release.version(copy)
    (copy / "CHANGELOG.md").write_text(f"# Changelog\n\n## {here} - 2030-12-31\n\n- New.\n", "utf-8")
    assert release.notes(copy) == "- New.\n"
    assert not any("CHANGELOG.md begins" in said or "has no section" in said for said in release.problems(copy))


@pytest.mark.parametrize("text", ["", "# Changelog\n\n## New things\n"], ids=["empty", "no version"])
def test_a_changelog_without_a_section_is_said(copy: Path, text: str) -> None:
    (copy / "CHANGELOG.md").write_text(text, "utf-8")
    said = f"CHANGELOG.md has no section: begin one with `## {release.version(copy)} \u2013 2030-12-31`, dated"
    assert said in list(release.problems(copy))
    with pytest.raises(ValueError, match=r"CHANGELOG\.md has no section"):
        release.notes(copy)


@pytest.mark.parametrize(("version", "said"), [("0.2.0", "false"), ("0.2.0rc1", "true"), ("0.2.0.dev1", "true")])
def test_what_comes_before_a_release_is_said_for_the_workflow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str, said: str
) -> None:
    monkeypatch.setattr(release, "version", lambda _: version)
    assert release.main(["prerelease"]) is None
    assert capsys.readouterr().out == f"{said}\n"
    assert ("latest" in release.folders(version)) == (said == "false")


def test_after_the_first_step_and_the_date_nothing_is_in_the_way(copy: Path) -> None:
    release.make_first(copy, "Some-One")
    dated(copy)
    assert list(release.problems(copy, f"v{release.version(copy)}")) == []
    assert "https://github.com/Some-One/llama3-tools" in (copy / "pyproject.toml").read_text("utf-8")
    assert "https://some-one.github.io/llama3-tools/" in (copy / "zensical.toml").read_text("utf-8")
    pages = {path.relative_to(copy).as_posix(): path.read_text("utf-8") for path in copy.rglob("*.md")}
    del pages["CONTRIBUTING.md"]  # it speaks of all that
    still = re.compile(r"# from a clone|from this clone|'\.\[|pip install \.(?:$|[ `])", re.MULTILINE)
    assert {name for name, text in pages.items() if still.search(text)} == set()
    assert "pip install 'llama3-tools[langchain]' langchain-openai\n" in pages["docs/langchain.md"]


def test_after_the_first_step_the_readme_leads_to_the_site(copy: Path) -> None:
    release.make_first(copy, "Some-One")
    text = (copy / "README.md").read_text("utf-8")
    begins, _, after = text.partition("**[Try it in your browser](")
    assert begins
    assert after.startswith("https://some-one.github.io/llama3-tools/latest/try-it.html)**")
    assert "http.server" not in text
    assert "docs/try-it.md" not in text
    assert "Nothing is sent anywhere.\n" in after


def test_pages_that_name_files_of_the_examples_say_where_these_are() -> None:
    speak_of_the_tree = {"install.md", "where-things-live.md"}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "start").glob("*.md")]
    texts = {page.name: page.read_text("utf-8") for page in pages if page.name not in speak_of_the_tree}
    said = re.compile(r"\]\((?:\.\./)?install\.md#examples\)|\]\(examples\)")
    assert [name for name, text in texts.items() if re.search(r"\bexamples/", text) and not said.search(text)] == []


@pytest.mark.parametrize(
    "account", ["", "-a", "a-", "a--b", "a_b", "a/b", "x" * 40, release.OWNER], ids=lambda name: name or "none"
)
def test_an_account_that_cannot_be_is_refused(copy: Path, account: str) -> None:
    before = (copy / "pyproject.toml").read_text("utf-8")
    with pytest.raises(ValueError, match="cannot be an account's name"):
        release.make_first(copy, account)
    assert (copy / "pyproject.toml").read_text("utf-8") == before


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("pip install .", "pip install llama3-tools"),
        ("pip install '.[langchain]' langchain-openai", "pip install 'llama3-tools[langchain]' langchain-openai"),
        ("pip install '.[cli]'    # from a clone", "pip install 'llama3-tools[cli]'"),
        ("pip install '.[cli]' # from a clone; extract", "pip install 'llama3-tools[cli]' # extract"),
        ("pip install '.[cli]' # from a clone: extract", "pip install 'llama3-tools[cli]' # extract"),
        ("pip install '.[vllm]'  # from a clone, into it", "pip install 'llama3-tools[vllm]'  # into it"),
        (
            "`pip install '.[a]'`, `pip install '.[b]'`",
            "`pip install 'llama3-tools[a]'`, `pip install 'llama3-tools[b]'`",
        ),
        ("pip install ./here", "pip install ./here"),
        ("pip install . && pip list", "pip install llama3-tools && pip list"),
        ("`pip install '.[vllm]'`, and", "`pip install 'llama3-tools[vllm]'`, and"),
        ("pip install '.[cli,batch]'`, then '.x'", "pip install 'llama3-tools[cli,batch]'`, then '.x'"),
        ("*After the first release:* these", "these"),
        ("There is no release on a package index yet: install from this clone, as x. Python 3.10.", "Python 3.10."),
        ("pip install rich.", "pip install rich."),
    ],
)
def test_a_line_that_installs_from_a_clone_installs_the_release(line: str, after: str) -> None:
    assert release.released(line) == after


def test_the_command_fails_for_a_tag_that_is_not_to_be_released() -> None:
    said = release.main(["check", "--tag", "v9.9.9"])
    assert said is not None
    assert "the tag v9.9.9 is not v" in said


def test_the_command_only_says_so_without_a_tag(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["check"]) is None
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "published", "folders"),
    [
        ("0.2.0", [], ["0.2.0", "latest"]),
        ("0.2.0", ["0.2.0", "latest"], ["0.2.0", "latest"]),
        ("0.2.0", ["0.3.0rc1", "0.3.0.dev1", "assets"], ["0.2.0", "latest"]),
        ("0.1.1", ["0.1.0", "0.2.0", "latest"], ["0.1.1"]),
        ("0.10.0", ["0.9.0", "latest"], ["0.10.0", "latest"]),
        ("0.2.0.post1", ["0.2.0", "latest"], ["0.2.0.post1", "latest"]),
        ("0.2.0", ["0.2.0.post1", "latest"], ["0.2.0"]),
        ("0.3.0rc1", [], ["0.3.0rc1"]),
        ("0.3.0.dev1", [], ["0.3.0.dev1"]),
    ],
)
def test_only_the_newest_release_is_the_latest(version: str, published: list[str], folders: list[str]) -> None:
    assert release.folders(version, published) == folders


def test_the_command_looks_at_what_is_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = release.version(ROOT)
    for published, folders in (([], [here, "latest"]), (["999.0"], [here])):
        for name in published:
            (tmp_path / name).mkdir()
        assert release.main(["folders", str(tmp_path)]) is None
        assert capsys.readouterr().out.split() == folders


@pytest.mark.parametrize("text", ["", '__version__ = "../keep"\n', '__version__ = "v1"\n', '__version__ = "1"\n' * 2])
def test_a_version_that_is_none_is_refused(copy: Path, text: str) -> None:
    path = copy / "shared" / "llama3_tools" / "_version.py"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match="has no version: write one line such as"):
        release.version(copy)


def test_a_file_that_is_missing_is_said(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy / "shared" / "llama3_tools" / "_version.py").unlink()
    monkeypatch.setattr(release, "__file__", str(copy / "tools" / "release.py"))
    assert "_version.py" in str(release.main(["version"]))


@pytest.mark.parametrize("day", ["9999-99-99", "2030-02-30", "20301231", "2030-W01-1", "soon"])
def test_a_day_that_is_none_is_no_date(copy: Path, day: str) -> None:
    here = release.version(copy)
    (copy / "CHANGELOG.md").write_text(f"## {here} \u2013 {day}\n\n- New.\n", "utf-8")
    assert f"CHANGELOG.md says that {here} is {day}: write its date, as in 2030-12-31" in release.problems(copy)
