"""The pytest plugin: the cases of suites, one test each, for tests that take `llama3_case`.

Nothing changes for other tests, and no file is collected by itself. Every session where it is installed imports this
module: so it is on its own, and imports the kit when a test asks for cases.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from llama3_acceptance.assertions import SuiteCase

__all__: list[str] = []

_MARK = "llama3_suite"
_FIXTURE = "llama3_case"
_INI = "llama3_suites"
_NO_SUITE = (
    f'no suite for {_FIXTURE}: mark the test with @pytest.mark.{_MARK}("commands.yaml"), '
    f"or give --llama3-suite commands.yaml, or {_INI} in the configuration"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ways to name suites for tests that name none themselves."""
    about = f"a suite whose cases {_FIXTURE} takes, in tests without the mark {_MARK}"
    group = parser.getgroup("llama3-tools")
    group.addoption("--llama3-suite", action="append", default=[], metavar="FILE", help=f"{about}; may be repeated")
    parser.addini(_INI, f"{about}; one a line", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", f"{_MARK}(*files): run with each case of these suites, as {_FIXTURE}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each case."""
    files = _files(metafunc) if _FIXTURE in metafunc.fixturenames else []
    if files:
        cases = [case for file in files for case in _load(file)]
        metafunc.parametrize(_FIXTURE, cases, ids=[case.case.id for case in cases])


@pytest.fixture
def llama3_case() -> SuiteCase:
    """One case of a suite: `llama3_case.request` is what to ask, `llama3_case.check(response)` judges the answer."""
    pytest.fail(_NO_SUITE, pytrace=False)


def _files(metafunc: pytest.Metafunc) -> list[Path]:
    """Return the suites of the test's mark, else those of the command line, else those of the configuration."""
    config = metafunc.config
    marked = [file for mark in metafunc.definition.iter_markers(_MARK) for file in mark.args]
    if marked:
        return [metafunc.definition.path.parent / file for file in marked]
    asked: list[str] = config.getoption("--llama3-suite")
    return [config.invocation_params.dir / file for file in asked] or list(config.getini(_INI))


def _load(file: Path) -> list[SuiteCase]:
    from llama3_acceptance.assertions import SuiteCase  # noqa: PLC0415 - only tests with a suite need it
    from llama3_acceptance.suites.load import SuiteError, load_suite  # noqa: PLC0415 - the same
    from llama3_tools.errors import MissingExtraError  # noqa: PLC0415 - the same
    from llama3_tools.text import escape_invisible  # noqa: PLC0415 - the same

    try:
        suite = load_suite(file)
    except (MissingExtraError, SuiteError) as error:
        raise pytest.fail.Exception(escape_invisible(str(error), exact=True), pytrace=False) from None
    except OSError as error:
        raise pytest.fail.Exception(f"the suite {file} cannot be opened: {error.strerror}", pytrace=False) from None
    return [SuiteCase(case, suite) for case in suite.cases]
