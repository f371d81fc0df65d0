"""Reading files of outputs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from samples import Sample, read_file


def write(path: Path, *rows: object) -> str:
    """Write a file of outputs, with an empty line in it."""
    text = "\n\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def test_files_are_read_plain_and_compressed(tmp_path: Path):
    function = {"name": "math.add", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}
    row = {"raw": '{"name": "math_add", "parameters": {"x": 1}}', "functions": [function], "model": "x"}
    plain, packed = write(tmp_path / "a.jsonl", row), write(tmp_path / "b.jsonl.gz", row, {"raw_output": "Hello."})
    (sample,) = read_file(Path(plain))
    assert json.loads(sample.tools) == [
        {
            "name": "math_add",
            "description": "",
            "parameters": {"type": "object", "properties": {"x": {"type": "number"}}},
        }
    ]
    assert list(read_file(Path(packed))) == [sample, Sample("Hello.", "[]")]


def test_what_an_output_calls_is_declared_where_no_functions_are_known(tmp_path: Path):
    (sample,) = read_file(Path(write(tmp_path / "a.jsonl", {"raw_output": "[clock(zone='CET')]"})))
    assert json.loads(sample.tools) == [{"name": "clock"}]
