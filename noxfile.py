"""The matrix: each Python that is here, with the oldest and the newest frameworks; and the distributions, installed.

`make matrix` runs all of it, `make matrix ARGS="--session lowest-3.10"` a part, `.venv/bin/nox --list` lists the parts.
A Python that is not here is skipped, and the summary at the end says so; nothing fetches one.
"""

from __future__ import annotations

import os
from pathlib import Path

import nox

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
os.environ["UV_PYTHON_DOWNLOADS"] = "never"
# Those of pyenv, also where its `python3.10` stands for another one than was chosen.
os.environ["PATH"] = os.pathsep.join([*map(str, Path.home().glob(".pyenv/versions/*/bin")), os.environ["PATH"]])

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)

# What the tests of each part need: the extras that they test, what else they use, and where they stand.
PARTS = {
    "core": (
        ["acceptance", "cli", "test", "validation"],
        ["langchain-core", "llama-index-core"],  # whose messages are judged, too
        ["shared", "tests/shared"],
    ),
    "batch": (
        ["batch", "cli"],
        ["openai", "PyYAML"],  # `llama3-tools accept`, beside which the command stands
        ["integrations/llama3_batch", "tests/integrations/batch"],
    ),
    "langchain": (
        ["langchain", "langchain-agents", "validation"],
        ["langchain-classic", "langchain-openai"],
        ["integrations/langchain_llama3_tools", "tests/integrations/langchain"],
    ),
    "llama-index": (
        ["llama-index", "validation"],
        ["llama-index-llms-openai-like"],
        ["integrations/llama_index_llama3_tools", "tests/integrations/llamaindex"],
    ),
    "gateway": (
        ["gateway", "validation"],
        ["httpx", "openai"],
        ["integrations/llama3_gateway", "tests/integrations/gateway"],
    ),
}
# LangChain's own tests of a chat model need a newer langchain-core than its oldest.
NEWEST_ONLY = "tests/integrations/langchain/test_standard.py"

# What a user may install. The other extras are for work on this project.
EXTRAS = ["langchain", "langchain-agents", "llama-index", "validation", "acceptance", "cli", "gateway", "batch"]
SHOWN = ["langchain-core", "langchain", "llama-index-core", "pydantic", "httpx2", "uvicorn"]
INSTALLED = "tests/installed.py"


def run_tests(session: nox.Session, *arguments: str) -> None:
    """Say which versions are there, and run tests on as many cores as there are, four at most."""
    program = f"import sys; sys.path.insert(0, 'tests'); from installed import versions; print(versions({SHOWN}))"
    session.run("python", "-c", program)
    workers = ["--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal"]
    session.run("python", "-m", "pytest", "--quiet", *workers, *arguments, *session.posargs)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Test the core and the adapters with the newest packages that may be installed."""
    others = [package for _, packages, _ in PARTS.values() for package in packages]
    extras = "acceptance,batch,cli,gateway,langchain-agents,llama-index,test"
    session.install("--upgrade", "--editable", f".[{extras}]", "langchain-tests", *others)
    run_tests(session, *(place for _, _, places in PARTS.values() for place in places))


@nox.session(python=PYTHONS)
@nox.parametrize("part", list(PARTS), ids=list(PARTS))
def lowest(session: nox.Session, part: str) -> None:
    """Test a part alone, with the oldest packages that `pyproject.toml` admits, whatever these warn of."""
    extras, others, places = PARTS[part]
    oldest = Path(session.bin).parent / "oldest.txt"  # nox's folder would be that of the tests' files, too, in here
    oldest.unlink(missing_ok=True)  # else uv prefers what it names
    asked = [f"--extra={extra}" for extra in extras]
    python = f"--python={Path(session.bin, 'python')}"
    compiled = ["--quiet", "--no-header", "--no-annotate", "--resolution=lowest-direct", f"--output-file={oldest}"]
    session.run("uv", "pip", "compile", python, *compiled, *asked, "pyproject.toml", silent=True)
    session.install(f"--constraint={oldest}", "--editable", f".[{','.join([*extras, 'test'])}]", *others)
    run_tests(session, "-W", "default", f"--ignore={NEWEST_ONLY}", *places)


@nox.session
@nox.parametrize(
    "extra", ["", *EXTRAS, "langchain,llama-index", ",".join(EXTRAS)], ids=["plain", *EXTRAS, "both", "all"]
)
def wheel(session: nox.Session, extra: str) -> None:
    """Build the source distribution and the wheel from it; install that with an extra, and try what is there."""
    built = Path(session.create_tmp(), "dist").resolve()
    session.run("uv", "build", "--quiet", "--clear", f"--out-dir={built}", silent=True)
    (file,) = built.glob("*.whl")
    session.install(f"llama3-tools[{extra}] @ {file.as_uri()}" if extra else str(file))
    session.run("python", "-I", INSTALLED, *filter(None, extra.split(",")))
