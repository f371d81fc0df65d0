"""Fuzzes the parts that read what a model writes, each for a while, guided by coverage.

    python tests/fuzz/run.py --seconds 60
    python tests/fuzz/run.py --target pythonic
    python tests/fuzz/run.py --replay .cache/fuzz/findings/pythonic-crash-0123abcd

Inputs that reach new code are kept, and the next run goes on from them. The exit status is 1 if there was a finding:
an exception, something that does not hold, or an input that takes longer than ten seconds. Its input is written to a
file, which `--replay` runs again.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / folder) for folder in ("shared", "tests")]

_CACHE = _ROOT / ".cache" / "fuzz"
_FINDINGS = _CACHE / "findings"
NAMES = ("extract", "stream", "pythonic", "coercion", "response")
"""The targets. They are not imported here: they are instrumented as they are imported where they are fuzzed."""
_LONGEST_SECONDS = 10


def main(command_line: Sequence[str] | None = None) -> int:
    """Fuzz each target in a process of its own, which a finding ends; return the exit status."""
    parser = argparse.ArgumentParser(description="Fuzz the parts that read what a model writes.")
    parser.add_argument("--seconds", type=_seconds, default=60, help="how long each target runs (default: 60)")
    parser.add_argument("--target", choices=NAMES, action="append", help="only this one; may be given several times")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run a finding again, without the fuzzer")
    parser.add_argument("--within", choices=NAMES, help=argparse.SUPPRESS)
    options = parser.parse_args(command_line)
    if options.replay:
        name = (options.target or [options.replay.name.split("-")[0]])[0]
        if name not in NAMES:
            parser.error(f"{options.replay} is not named after a target: give --target, too")
        return _replay(options.replay, name)
    if options.within:
        _fuzz(options.within, options.seconds)
    if find_spec("atheris") is None:
        parser.exit(
            2, "The fuzzers need atheris, which has wheels for Linux and Python 3.11 to 3.13: make fuzz installs it\n"
        )
    failed = [name for name in options.target or NAMES if not _is_clean(name, options.seconds)]
    for name in failed:
        print(f"{name}: run it again by --replay, of {_FINDINGS.relative_to(_ROOT)}/{name}-*")
    return int(bool(failed))


def _seconds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:  # the fuzzer takes 0 for ever
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _is_clean(name: str, seconds: int) -> bool:
    for folder in (_FINDINGS, _CACHE / name):
        folder.mkdir(parents=True, exist_ok=True)
    print(f"{name}, for {seconds} s", flush=True)
    line = [sys.executable, __file__, "--within", name, "--seconds", str(seconds)]
    return subprocess.run(line, check=False, cwd=_ROOT).returncode == 0


def _fuzz(name: str, seconds: int) -> None:
    """Fuzz one target. The fuzzer ends the process."""
    import atheris  # noqa: PLC0415 - of an extra, and not needed to replay

    with atheris.instrument_imports(include=["llama3_tools"]):
        from fuzz.editing import LONGEST_INPUT  # noqa: PLC0415 - instrumented as it is imported
        from fuzz.targets import TARGETS  # noqa: PLC0415 - the same

    target, corpus = TARGETS[name], _CACHE / name
    for data in target.first_inputs():
        (corpus / hashlib.sha256(data).hexdigest()[:40]).write_bytes(data)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        seeded = random.Random(seed)
        if target.mutate is None or not data or seeded.random() < 0.2:
            return bytes(atheris.Mutate(data, max_size))
        return target.mutate(data, seeded)[:max_size]

    arguments = [
        sys.argv[0],
        str(corpus),
        f"-max_total_time={seconds}",
        f"-timeout={_LONGEST_SECONDS}",
        f"-max_len={LONGEST_INPUT}",
        f"-artifact_prefix={_FINDINGS}/{name}-",
        "-rss_limit_mb=2048",
        "-verbosity=0",
    ]
    atheris.Setup(arguments, target.run, custom_mutator=mutate)
    atheris.Fuzz()


def _replay(finding: Path, name: str) -> int:
    """Run one input as the fuzzer does: it raises what was found."""
    from fuzz.targets import TARGETS  # noqa: PLC0415 - only here

    TARGETS[name].run(finding.read_bytes())
    print(f"{finding} is no finding any more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
