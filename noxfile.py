"""The matrix: oldest and newest Python with oldest and newest frameworks; and the distributions, installed.

`make matrix` runs all of it, `make matrix ARGS="--session lowest-3.10"` a part, `.venv/bin/nox --list` lists the parts.
A Python that is not here is skipped, and the summary at the end says so; nothing fetches one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
os.environ["UV_PYTHON_DOWNLOADS"] = "never"
# pyenv's own `python3.10` runs the version that the user chose. These folders have the one that the name says.
os.environ["PATH"] = os.pathsep.join([*map(str, Path.home().glob(".pyenv/versions/*/bin")), os.environ["PATH"]])

PROJECT = nox.project.load_toml("pyproject.toml")
_OLDEST, *_, _NEWEST = nox.project.python_versions(PROJECT)
PYTHONS = [_OLDEST, _NEWEST]

# What the tests of each part need: the extras that they test, what else they use, and where they are.
PARTS = {
    "core": (
        ["acceptance", "cli", "validation"],
        ["langchain-core", "llama-index-core"],  # whose messages are judged, too
        ["shared", "tests/shared"],
    ),
    "batch": (
        ["batch", "cli"],
        ["openai", "PyYAML"],  # `llama3-tools accept`, beside which the command is listed
        ["integrations/llama3_batch", "tests/integrations/batch"],
    ),
    "langchain": (
        ["langchain", "langchain-agents", "validation"],
        ["langchain-classic", "langchain-ollama", "langchain-openai", "langgraph-supervisor"],
        ["integrations/langchain_llama3_tools", "tests/integrations/langchain"],
    ),
    "llama-index": (
        ["llama-index", "validation"],
        ["llama-index-llms-ollama", "llama-index-llms-openai-like"],
        ["integrations/llama_index_llama3_tools", "tests/integrations/llamaindex"],
    ),
    "gateway": (
        ["gateway", "validation"],
        ["httpx", "openai"],
        ["integrations/llama3_gateway", "tests/integrations/gateway"],
    ),
}
# LangChain's own tests of a chat model need a newer langchain-core than its oldest.
NEWEST_ONLY = [f"tests/integrations/langchain/test_{name}.py" for name in ("standard", "standard_integration")]

EXTRAS = [extra for extra in PROJECT["project"]["optional-dependencies"] if extra != "demo"]  # that is for a clone
SHOWN = ["langchain-core", "langchain", "llama-index-core", "pydantic", "httpx2", "uvicorn", "jsonschema", "pyarrow"]
INSTALLED = "tests/installed.py"
VERSIONS = Path("docs/versions.md")


def run_tests(session: nox.Session, *arguments: str) -> None:
    """Run tests with five processes at most, and note the versions in the docs, unless arguments chose some tests."""
    program = f"import sys; sys.path.insert(0, 'tests'); from installed import versions; print(versions({SHOWN}))"
    workers = ["--numprocesses=auto", "--maxprocesses=5", "--dist=worksteal"]
    session.run("python", "-m", "pytest", "--quiet", *workers, *arguments, *session.posargs)
    if session.posargs:
        return
    python, _, others = str(session.run("python", "-c", program, silent=True)).strip().partition(", ")
    note_tested(session.name, python, others)


def note_tested(*cells: str) -> None:
    """Put a row into the table of what was tested, in the place of the one for the same session."""
    before, begin, rest = VERSIONS.read_text("utf-8").partition("<!-- tested -->\n")
    table, end, after = rest.partition("<!-- end -->")
    rows = {line.partition(" | ")[0]: line for line in table.splitlines()[3:] if line}
    rows[f"| {cells[0]}"] = f"| {' | '.join(cells)} |"
    lines = ["", "| session | Python | with |", "|---|---|---|", *(rows[key] for key in sorted(rows)), "", ""]
    VERSIONS.write_text(before + begin + "\n".join(lines) + end + after, "utf-8")


@nox.session(python=PYTHONS)
@nox.parametrize("part", list(PARTS), ids=list(PARTS))
def newest(session: nox.Session, part: str) -> None:
    """Test a part alone, with the newest packages that may be installed."""
    extras, others, places = PARTS[part]
    session.install("--upgrade", "--editable", f".[{','.join(extras)}]", "--group=test", "langchain-tests", *others)
    run_tests(session, *places)


@nox.session(python=PYTHONS)
@nox.parametrize("part", list(PARTS), ids=list(PARTS))
def lowest(session: nox.Session, part: str) -> None:
    """Test a part alone, with the oldest packages that `pyproject.toml` admits, whatever these warn of."""
    extras, others, places = PARTS[part]
    # Not in session.create_tmp(): that sets TMPDIR, and the tests' temporary files would be in this tree.
    oldest = Path(session.bin).parent / "oldest.txt"
    oldest.unlink(missing_ok=True)  # else uv prefers what it names
    asked = [f"--extra={extra}" for extra in extras]
    python = f"--python={Path(session.bin, 'python')}"
    compiled = ["--quiet", "--no-header", "--no-annotate", "--resolution=lowest-direct", f"--output-file={oldest}"]
    session.run("uv", "pip", "compile", python, *compiled, *asked, "pyproject.toml", silent=True)
    session.install(f"--constraint={oldest}", "--editable", f".[{','.join(extras)}]", "--group=test", *others)
    run_tests(session, "-W", "default", *(f"--ignore={path}" for path in NEWEST_ONLY), *places)


@nox.session(python=PYTHONS)
@nox.parametrize(
    "extra", ["", *EXTRAS, "langchain,llama-index", ",".join(EXTRAS)], ids=["plain", *EXTRAS, "both", "all"]
)
def wheel(session: nox.Session, extra: str) -> None:
    """Build the source distribution and the wheel from it; install that with an extra, and try what is there."""
    session.install(built_wheel(session, extra))
    session.run("python", "-I", INSTALLED, *filter(None, extra.split(",")))
    if extra in {"", "cli"}:  # without the extra, the command says what to install
        session.run("llama3-tools", "--help", silent=True, success_codes=[0 if extra else 2])


@nox.session(python=PYTHONS)
def compiled(session: nox.Session) -> None:
    """Build the wheel whose reader is compiled, install it, and run the reader's tests on it."""
    built = Path(session.cache_dir, "compiled").resolve()
    build = ["uv", "build", "--quiet", "--wheel", "--clear", f"--python={Path(session.bin, 'python')}"]
    enabled = {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": "1"}
    session.run_install(*build, f"--out-dir={built}", external=True, silent=True, env=enabled)
    (file,) = built.glob("*.whl")
    session.install(str(file), "--group=test", "pydantic")  # whose warnings pytest is told to ignore
    session.run("python", "tests/compiled.py", "--quiet", "--numprocesses=auto", *session.posargs)


@nox.session(python=PYTHONS)
@nox.parametrize("checker", ["mypy", "pyright"])
def typed(session: nox.Session, checker: str) -> None:
    """Check programs that use the installed wheel, from outside of this tree, as a user's type checker sees it."""
    session.install(built_wheel(session, "langchain-agents,llama-index,validation"), checker)
    check = [checker, "--strict"] if checker == "mypy" else [checker]
    # Checkers look for settings in the folders above, and not in hidden ones.
    with tempfile.TemporaryDirectory() as outside:
        shutil.copytree("tests/typing", outside, dirs_exist_ok=True)
        with session.chdir(outside):
            session.run(*check, ".")
            Path("wrong.py").write_text("import llama3_tools\n\nnone: int = llama3_tools.extract('')\n", "utf-8")
            session.run(*check, "wrong.py", success_codes=[1], silent=True)


def built_wheel(session: nox.Session, extra: str) -> str:
    """Build the source distribution, and the wheel from it, once a run. Return what an installer takes."""
    built = Path(session.cache_dir, "dist").resolve()
    if not _BUILT:
        session.run_install("uv", "build", "--quiet", "--clear", f"--out-dir={built}", external=True, silent=True)
        _BUILT.extend(built.glob("*.whl"))
    (file,) = _BUILT
    return f"llama3-tools[{extra}] @ {file.as_uri()}" if extra else str(file)


_BUILT: list[Path] = []
