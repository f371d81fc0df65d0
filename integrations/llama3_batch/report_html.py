"""A report as one self-contained HTML page, which loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from llama3_batch.report import Line, Section, headline, sections, title, undeclared
from llama3_batch.summary import Example, Summary
from llama3_tools.text import escape_invisible

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .3rem .5rem; border-top: 1px solid #8886; vertical-align: top; }
th { text-align: left; font-weight: normal; overflow-wrap: anywhere; }
td { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
meter { width: 6rem; }
p { margin: .2rem 0 .5rem; }
.soft, summary { color: #777; font-size: .9rem; }
pre { margin: .2rem 0 .6rem; padding: .4rem .6rem; border: 1px solid #8886; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def report_html(summary: Summary, files: Mapping[str, str]) -> str:
    """Return a report as an HTML page. What a model wrote is escaped, and nothing may run or load.

    Args:
        summary: what was found in all files.
        files: where the results of each are.
    """
    rows = "\n".join(f"<li>{_text(path)} → {_text(output)}</li>" for path, output in files.items())
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title(summary)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
            f"<h1>{title(summary)}</h1>",
            f"<p><strong>{_text(undeclared(summary) or '')}</strong></p>",
            _table(headline(summary)),
            *map(_section, sections(summary)),
            f"<h2>Files</h2>\n<ul>\n{rows}\n</ul>\n</body>\n</html>\n",
        )
    )


def _section(section: Section) -> str:
    explanation = f'<p class="soft">{_text(section.explanation)}</p>'
    return f"<h2>{_text(section.title)}</h2>\n{explanation}\n{_table(section.lines)}"


def _table(lines: Iterable[Line]) -> str:
    rows = "\n".join(
        f'<tr><th scope="row">{_text(line.name)}{_examples(line)}</th><td>{_text(line.remark)}</td>'
        f"<td>{line.count:,}</td><td>{line.share:.1%}</td>"
        f'<td><meter value="{line.share:.4f}">{line.share:.0%}</meter></td></tr>'
        for line in lines
    )
    return f"<table>\n{rows}\n</table>"


def _examples(line: Line) -> str:
    if not line.examples:
        return ""
    return f"<details><summary>examples</summary>{''.join(map(_example, line.examples))}</details>"


def _example(example: Example) -> str:
    text = f"<pre>{_text(example.text)}</pre>" if example.text else ""
    return f'<p class="soft">{_text(example.file)}, row {example.row:,}: {_text(example.detail)}</p>{text}'


def _text(text: str) -> str:
    return escape(escape_invisible(text))
