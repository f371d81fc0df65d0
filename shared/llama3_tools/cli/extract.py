"""`llama3-tools extract`: model outputs in, JSON lines out; or, with `--show`, why something is a call or not."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, get_args

import click

from llama3_tools.cli.input_files import STDIN, read_text, read_tools, why_unreadable
from llama3_tools.cli.screen import ColorChoice, color_option, console
from llama3_tools.cli.show import show_output
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.extractor import Extractor
from llama3_tools.formats import FormatName
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits
from llama3_tools.output.other_readings import other_calls
from llama3_tools.output.segments import read_segments
from llama3_tools.text.escaping import escape_invisible, escape_invisible_json
from llama3_tools.values import Extraction, ToolCall

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from llama3_tools.options import ReadOption

_LIMIT = re.compile(r"(\w+)=(-?[0-9]{1,18})")
_LINE_BREAK = re.compile(r"[\r\n]")
_FINAL_BREAK = re.compile(r"\r?\n\Z")


def _limits(_context: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> Limits:
    """Return the limits that were given, the others by default.

    Raises:
        click.BadParameter: a limit that there is not, or that cannot be so low or high.
    """
    limits = DEFAULT_LIMITS
    for one in given:
        found = _LIMIT.fullmatch(one)
        if not found or found[1] not in Limits._fields:
            names = ", ".join(Limits._fields)
            raise click.BadParameter(f"{one!r}: write NAME=NUMBER, such as max_calls=5. The names are {names}")
        try:
            limits = require_limits(limits._replace(**{found[1]: int(found[2])}))
        except ValueError as error:
            raise click.BadParameter(f"{one!r}: {error}") from None
    return limits


@click.command(short_help="Read the tool calls in model outputs, or see why there are none.")
@click.argument("files", nargs=-1, metavar="[FILE]…")
@click.option("--tools", "tools_file", metavar="FILE", help="Your tools, as a JSON list of OpenAI tools.")
@click.option(
    "--on-unknown-tool",
    type=click.Choice(["text", "call"]),
    default="text",
    show_default=True,
    help="Whether a call of a tool that is not in --tools is a call, or stays in the text.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(get_args(FormatName)),
    multiple=True,
    callback=lambda _context, _param, given: given or None,
    help="Read only this form of calls; may be repeated.",
)
@click.option("--repair", is_flag=True, help="Repair malformed calls of the declared tools.")
@click.option(
    "--coerce", "coerce_arguments", is_flag=True, help="Make arguments fit the schemas of the tools, if possible."
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    callback=_limits,
    metavar="NAME=NUMBER",
    help="How much counts as calls, such as max_calls=5; may be repeated. The names and defaults: "
    f"{', '.join(f'{name} ({limit})' for name, limit in DEFAULT_LIMITS._asdict().items())}.",
)
@click.option("--starts-reasoning", is_flag=True, help="Outputs begin inside <think>, because the prompt opened it.")
@click.option("--split-reasoning", is_flag=True, help="Print reasoning (<think>…</think>) separately from the content.")
@click.option("--incomplete", is_flag=True, help="A limit ended the outputs (finish reason `length`).")
@click.option("--show", is_flag=True, help="Print each output in colour, and say why something is a call or not.")
@color_option
def extract(
    files: tuple[str, ...],
    *,
    tools_file: str | None,
    incomplete: bool,
    show: bool,
    color: ColorChoice,
    **options: Unpack[ReadOption],
) -> None:
    """Read the content and the tool calls in model outputs.

    Each FILE contains one output. Without a FILE, or for `-`, the output is read from standard input. The command
    prints one line of JSON for each output; with --show, it prints the output in colour and explains it.

    The exit status is 0, or 2 if a file could not be read.
    """
    for name, is_on in (("coerce", options["coerce_arguments"]), ("repair", options["repair"])):
        if is_on and tools_file is None:
            raise click.UsageError(f"--{name} needs declared tools: add --tools")
    try:
        extractor = Extractor(None if tools_file is None else read_tools(tools_file), **options)
    except (TypeError, ToolDefinitionError) as error:
        raise click.UsageError(f"{tools_file}: {error}") from None
    screen = console(color, is_endless=True)
    failed = False
    for name in files or (STDIN,):
        try:
            text = _FINAL_BREAK.sub("", read_text(name))
        except (OSError, UnicodeDecodeError) as error:
            click.echo(escape_invisible(f"llama3-tools extract: {name}: {why_unreadable(error)}"), err=True)
            failed = True
            continue
        if show:
            output = read_segments(extractor, text, complete=not incomplete)
            show_output(screen, name, output, other_calls(extractor, text, complete=not incomplete))
        else:
            extraction = extractor.extract(text, complete=not incomplete)
            click.echo(_line(name, text, extraction, has_reasoning=options["split_reasoning"]))
    if failed:
        sys.exit(2)


def _line(name: str, text: str, extraction: Extraction, *, has_reasoning: bool) -> bytes:
    """Return an extraction as one line of JSON."""
    rejections = [
        {
            "reason": rejection.reason.value,
            "detail": rejection.detail,
            "name": rejection.name,
            "span": rejection.span,
            "text": text[slice(*rejection.span)],
        }
        for rejection in extraction.rejections
    ]
    calls = ", ".join(map(_call, extraction.tool_calls))
    written = {"file": name, "content": extraction.content}
    if has_reasoning:
        written["reasoning"] = extraction.reasoning
    prose = escape_invisible_json(_json(written))
    rest = escape_invisible_json(f'"tool_calls": [{calls}], "rejections": {_json(rejections)}', exact=True)
    return f"{prose[:-1]}, {rest}}}".encode()


def _call(call: ToolCall) -> str:
    """Return a call as JSON. Arguments in which nothing was changed are as the model wrote them."""
    arguments = _LINE_BREAK.sub(" ", call.usable_json)  # JSON has line breaks only outside of strings
    facts: dict[str, object] = {"id": call.id, "format": call.format, "span": call.span}
    if call.changes:
        facts["changes"] = [{"path": one.path, "declared": one.declared} for one in call.changes]
    if call.problems:
        facts["problems"] = [
            {"path": one.path, "reason": one.reason.value, "message": one.message} for one in call.problems
        ]
    if call.deviations:
        facts["deviations"] = call.deviations
    if call.repaired_from is not None:
        facts["repaired_from"] = call.repaired_from
    rest = _json(facts)
    return f'{{"name": {_json(call.name)}, "arguments": {arguments}, {rest[1:]}'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
