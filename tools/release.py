"""What a release needs to know of this tree, and what still keeps it from being one.

    python tools/release.py version         # the version, from the one place where it stands
    python tools/release.py prerelease      # whether it comes before a release, as 0.2.0rc1 does: true or false
    python tools/release.py folders PAGES   # where this version's documentation is published in PAGES: 0.1.0 latest
    python tools/release.py notes           # the changelog's section on it
    python tools/release.py check           # what keeps this tree from being released
    python tools/release.py check --tag v0.1.0   # the same, and it fails
    python tools/release.py first ACCOUNT   # before the first release: set the account, and the lines that install

CONTRIBUTING.md says when each is used.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

OWNER = "OWNER_TO_SET"
"""Stands for the account that will hold the repository. GitHub allows no `_` in an account's name."""

UNRELEASED = "There is no release on a package index yet"
"""Begins the sentence, in README.md and pages of the documentation, that goes with the first release."""

UNPUBLISHED = "The site is not published yet"
"""Begins the sentence of README.md that goes, too, when the site is there; its link *Try it* then leads to the site."""

MARK = "*After the first release:*"
"""Begins what is right after the first release only."""

VERSION = re.compile(
    r"(?P<numbers>\d+(?:\.\d+)*)(?:(?P<before>a|b|rc)(?P<candidate>\d+))?"
    r"(?:\.post(?P<post>\d+))?(?:\.dev(?P<dev>\d+))?",
    re.ASCII,
)
"""What a version is, as Python's packages write it: `0.1.0`, `0.2.0rc1`, `0.2.0.post1`."""

# Files that may mention the markers.
_THIS = ("CONTRIBUTING.md", "tools/release.py", "tests/packaging/test_release.py")
_HEADING = re.compile(r"^## (?P<version>\S+) [\u2013-] (?P<date>.+)$", re.MULTILINE)
_ACCOUNT = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}")
_FROM_A_CLONE = re.compile(r"(?<=pip install )(?P<quote>'?)\.(?P<extras>\[[a-z,-]+\])?(?P=quote)(?![\w/])")


def version(root: Path) -> str:
    """Return the version.

    Raises:
        OSError: the file in which it stands cannot be read.
        ValueError: there is none in it, or what is there is no version.
    """
    path = root / "shared" / "llama3_tools" / "_version.py"
    found = re.findall(r'^__version__ = "(.+)"$', path.read_text("utf-8"), re.MULTILINE)
    if len(found) != 1 or not VERSION.fullmatch(found[0]):
        raise ValueError(f'{path} has no version: write one line such as __version__ = "0.1.0"')
    return str(found[0])


def folders(version: str, published: Iterable[str] = ()) -> list[str]:
    """Return where a version's documentation is published. What comes before a release is not the latest.

    Args:
        version: the version.
        published: the folders that are there: a fix for an older version is not the latest, either.

    Examples:
        >>> folders("0.2.0"), folders("0.3.0rc1"), folders("0.1.1", ["0.2.0", "latest"])
        (['0.2.0', 'latest'], ['0.3.0rc1'], ['0.1.1'])
    """
    others = [one for one in published if VERSION.fullmatch(one) and not is_prerelease(one)]
    is_newest = all(order(one) <= order(version) for one in others)
    return [version, "latest"] if is_newest and not is_prerelease(version) else [version]


def is_prerelease(version: str) -> bool:
    """Return whether a version comes before a release, as a candidate does.

    Raises:
        ValueError: it is no version.

    Examples:
        >>> is_prerelease("0.2.0"), is_prerelease("0.3.0rc1"), is_prerelease("0.2.0.post1")
        (False, True, False)
    """
    parts = _parts(version)
    return bool(parts["before"] or parts["dev"])


def order(version: str) -> tuple[list[int], str, int, int, bool, int]:
    """Return what sorts versions as Python's packages are sorted.

    Raises:
        ValueError: it is no version.

    Examples:
        >>> sorted(["0.10.0", "0.9.0.post1", "0.9.0", "0.9.0rc2", "0.9.0.dev1", "0.9.0rc2.dev1"], key=order)
        ['0.9.0.dev1', '0.9.0rc2.dev1', '0.9.0rc2', '0.9.0', '0.9.0.post1', '0.10.0']
    """
    found = _parts(version)
    is_first = found["dev"] and not found["post"]  # before all candidates
    before = found["before"] or ("" if is_first else "release")
    numbers = [int(number) for number in found["numbers"].split(".")]
    candidate, post, dev = (int(found[part] or 0) for part in ("candidate", "post", "dev"))
    return numbers, before, candidate, post + bool(found["post"]), not found["dev"], dev


def _parts(version: str) -> re.Match[str]:
    found = VERSION.fullmatch(version)
    if not found:
        raise ValueError(f"{version!r} is no version: write it as in 0.1.0, 0.2.0rc1 or 0.2.0.post1")
    return found


def notes(root: Path) -> str:
    """Return the changelog's section on the version, without its heading.

    Raises:
        ValueError: there is no section, or the newest one is on another version.
    """
    _, title, section = _newest_section(root)
    if title != version(root):
        raise ValueError(f"CHANGELOG.md begins with {title}, and this is {version(root)}")
    return section


def problems(root: Path, tag: str | None = None) -> Iterator[str]:
    """Yield what keeps the tree from being released, in sentences that say what to do."""
    here = version(root)
    try:
        dated, title, _ = _newest_section(root)
    except ValueError as error:
        yield str(error)
    else:
        if title != here:
            yield f"CHANGELOG.md begins with {title}, and this is {here}: add its section"
        elif not _is_a_date(dated):
            yield f"CHANGELOG.md says that {here} is {dated}: write its date, as in 2030-12-31"
    if tag is not None and tag != f"v{here}":
        yield f"the tag {tag} is not v{here}: tag v{here}, or change shared/llama3_tools/_version.py"
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in _texts(root)}
    for said in (OWNER, UNRELEASED, UNPUBLISHED, MARK):
        if found := sorted(name for name, text in texts.items() if said in text):
            yield f"`{said}` stands in {', '.join(found)}: `python tools/release.py first ACCOUNT` changes that"


def make_first(root: Path, account: str) -> None:
    """Set the account, and write down everywhere that there is a release.

    Raises:
        ValueError: no account can have that name.
    """
    if not _ACCOUNT.fullmatch(account):
        raise ValueError(f"{account!r} cannot be an account's name: letters, digits, and single hyphens between them")
    for path in _texts(root):
        text = path.read_text("utf-8")
        changed = released(text) if path.suffix == ".md" else text
        # A host is written in small letters.
        changed = changed.replace(f"//{OWNER}.", f"//{account.lower()}.").replace(OWNER, account)
        if changed != text:
            path.write_text(changed, "utf-8")


def released(page: str) -> str:
    """Return a page of the documentation as it is after the first release.

    Examples:
        >>> released("pip install '.[cli,batch]'  # from a clone; batch brings pyarrow")
        "pip install 'llama3-tools[cli,batch]'  # batch brings pyarrow"
        >>> released("Python 3.10. There is no release on a package index yet: install from a clone.")
        'Python 3.10.'
        >>> released("**Try it in your browser**. The site is not published yet: build it.")
        '**[Try it in your browser](https://OWNER_TO_SET.github.io/llama3-tools/latest/try-it.html)**.'
    """
    page = re.sub(rf"(?:{UNRELEASED}|{UNPUBLISHED}):.*?\.(?=\s|$)[ ]?", "", page, flags=re.DOTALL)
    try_it = "Try it in your browser"
    site = f"https://{OWNER}.github.io/llama3-tools/latest"
    page = page.replace(f"**{try_it}**", f"**[{try_it}]({site}/try-it.html)**")
    page = re.sub(rf"{re.escape(MARK)}\s", "", page)
    page = _FROM_A_CLONE.sub(r"\g<quote>llama3-tools\g<extras>\g<quote>", page)
    page = re.sub(r"# from a clone[;,:] ", "# ", page)
    return re.sub(r"[ ]*(?:# from a clone)?$", "", page, flags=re.MULTILINE)


def _is_a_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _newest_section(root: Path) -> tuple[str, str, str]:
    """Return the date of the changelog's newest section, its version, and its text.

    Raises:
        ValueError: there is no section.
    """
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = list(_HEADING.finditer(text))
    if not found:
        raise ValueError(f"CHANGELOG.md has no section: begin one with `## {version(root)} \u2013 2030-12-31`, dated")
    end = found[1].start() if len(found) > 1 else len(text)
    return found[0]["date"], found[0]["version"], text[found[0].end() : end].strip() + "\n"


def files(root: Path) -> list[Path]:
    """Return the files of the project: in a clone those that git does not ignore, in a source distribution all."""
    if not (root / ".git").exists():
        return sorted(path for path in root.rglob("*") if path.is_file())
    listed = subprocess.run(  # noqa: S603 - its words stand here
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git is what it is
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = [root / name for name in sorted(filter(None, listed.split("\0")))]
    return [path for path in paths if path.is_file()]


def _texts(root: Path) -> Iterator[Path]:
    """Yield the files in which an address or a line that installs may stand, but those that speak of it."""
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if name not in _THIS and path.suffix in {".cff", ".md", ".toml", ".yml"}:
            yield path


def main(arguments: list[str]) -> str | None:
    """Do what the arguments say. Return what is wrong."""
    parser = argparse.ArgumentParser(description="What a release needs to know of this tree.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("version", "prerelease", "notes"):
        commands.add_parser(name)
    commands.add_parser("folders").add_argument("pages", type=Path)
    commands.add_parser("check").add_argument("--tag")
    commands.add_parser("first").add_argument("account")
    asked = parser.parse_args(arguments)
    root = Path(__file__).parents[1]
    try:
        if asked.command == "first":
            make_first(root, asked.account)
        elif asked.command == "check":
            found = list(problems(root, asked.tag))
            if asked.tag is not None and found:
                return "\n".join(found)
            print("\n".join(["Before a release:", *found] if found else ["Nothing is in the way of a release."]))
        elif asked.command == "notes":
            print(notes(root), end="")
        elif asked.command == "prerelease":
            print(str(is_prerelease(version(root))).lower())
        elif asked.command == "folders":
            print(*folders(version(root), (path.name for path in asked.pages.glob("*"))))
        else:
            print(version(root))
    except (OSError, ValueError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
