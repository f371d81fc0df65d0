"""Whatever is written in a form reads back: generated calls, alone and several, with prose around."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pytest

from chunkings import cut, read
from generated_calls import ANY, ANY_NAME, NAMES, GeneratedCall, any_string, generate
from llama3_tools import Extractor, Tool, parse_response
from llama3_tools.text.json_writing import write_json
from templates import FORMS, Form

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

CALLS = 150
PROSE = (
    *("", "Let me check.", "Ich sehe nach \u2026", "東京です。", "One\n\n  two  three", "1. this\n2. that", "First,"),
    *("It's {x} or [1], [a](b) and \\frac{1}{2}:", "2 < 3 & 4 > 1", "<b>bold</b>", "`code` it is", "a; b", "-", "🙂"),
)
GAPS = ("\n", " ", "\n\n", "")
DECLARED = Extractor(tools=[Tool(name) for name in ANY_NAME])


class Output(NamedTuple):
    """What a model writes, and what has to be read."""

    text: str
    calls: list[GeneratedCall]
    content: str | None


def outputs(form: Form, seeded: random.Random) -> Iterator[Output]:
    """Write all the calls that a form can carry."""
    calls = list(generate(form.carries, CALLS))
    while calls:
        size = seeded.choice((1, 1, 2, 3, 4, 5))
        written, calls = calls[:size], calls[size:]
        yield output(form, written, seeded)


def output(form: Form, calls: list[GeneratedCall], seeded: random.Random) -> Output:
    """Write calls in one block or more, with prose before, between and after."""
    prose = [seeded.choice(PROSE)]
    pieces = [form.edges[0], prose[0], seeded.choice(GAPS)]
    rest = calls
    while rest:
        size = seeded.randint(1, len(rest)) if form.delimiters else 1
        block, rest = rest[:size], rest[size:]
        delimiter = seeded.choice(form.delimiters or ("",))
        prose.append(seeded.choice(PROSE))
        pieces += [form.around[0], form.block(block, delimiter), form.around[1]]
        pieces += [seeded.choice(GAPS), prose[-1], seeded.choice(GAPS)]
    return Output("".join([*pieces[:-1], form.edges[1]]), calls, " ".join(filter(None, prose)) or None)


def chunks_of(text: str, seeded: random.Random) -> list[str]:
    """Cut a text: at random, or now and then into fours, or into characters."""
    size = seeded.choice((0, 0, 0, 4, 4, 1))
    if size:
        return cut(text, range(size, len(text), size))
    return cut(text, sorted(seeded.sample(range(len(text)), min(len(text), seeded.randint(1, 20)))))


def shown(calls: Iterable[tuple[str, Mapping[str, object]]]) -> list[str]:
    """Write calls so that they are the same only if every type, digit, sign and order of keys is."""
    return [f"{name} {write_json(arguments)}" for name, arguments in calls]


@pytest.mark.parametrize("form", [pytest.param(form, id=form.name) for form in FORMS])
def test_what_is_written_in_a_form_reads_back(form: Form):
    seeded = random.Random(form.name)  # noqa: S311 - the same outputs every time
    extractors = [DECLARED] if form.undeclared is None else [DECLARED, Extractor(**form.undeclared)]
    for index, (text, calls, content) in enumerate(outputs(form, seeded)):
        extractor = extractors[index % len(extractors)]
        extraction = extractor.extract(text)
        found = extraction.tool_calls
        assert shown((call.name, call.arguments) for call in found) == shown(calls), ascii(text)
        assert shown((call.name, json.loads(call.arguments_json)) for call in found) == shown(calls), ascii(text)
        assert (extraction.content, extraction.rejections) == (content, ()), ascii(text)
        flow, streamed = read(chunks_of(text, seeded), extractor)
        assert streamed == extraction, ascii(text)
        assert "".join(part for part in flow if isinstance(part, str)).lstrip() == (content or ""), ascii(text)


@pytest.mark.parametrize("multiple", [False, True])
def test_a_response_in_the_strict_format_reads_back(multiple: bool):
    seeded = random.Random(multiple)  # noqa: S311 - the same responses every time
    for call in generate(ANY, CALLS):
        message = any_string(seeded)
        calls = [call, call._replace(name=seeded.choice(ANY_NAME))] if multiple else [call]
        written = [{"name": each.name, "arguments": each.arguments} for each in calls]
        text = write_json({"message": message, **({"tool_calls": written} if multiple else {"tool_call": written[0]})})
        extraction = parse_response(text, multiple=multiple)
        assert shown((found.name, found.arguments) for found in extraction.tool_calls) == shown(calls), ascii(text)
        assert extraction.content == (message.strip() or None), ascii(text)


@pytest.mark.parametrize("around", [("<|python_tag|>", "<|eom_id|>"), ("<|python_tag|>", "<|eot|>")])
def test_code_reads_back(around: tuple[str, str]):
    """Written as meta-llama/llama-models has it, llama3_1/prompt_format.md, "Code interpreter"; tokens end it."""
    seeded = random.Random(around[0])  # noqa: S311 - the same code every time
    extractor = Extractor(tools=[{"name": "code_interpreter"}, *map(Tool, NAMES)])
    for call in generate(ANY, CALLS):
        code = f"given = {call.arguments!r}\n\nfor each in given:\n    print(each)".replace("<|", "<\\x7c")
        prose = seeded.choice(PROSE)
        gap = seeded.choice(GAPS if prose.endswith((".", "\u2026", "。", ":")) else ("\n", "\n\n"))  # not in a sentence
        text = f"{prose}{gap}{around[0]}{code}{around[1]}"
        extraction = extractor.extract(text)
        (found,) = extraction.tool_calls
        assert (found.name, found.arguments, found.format) == ("code_interpreter", {"code": code}, "code")
        assert (extraction.content, extraction.rejections) == (prose or None, ())
        assert read(chunks_of(text, seeded), extractor)[1] == extraction, ascii(text)
