"""The forms in which prompts ask for calls, and in which Meta's templates and those of finetunes write them.

Each form is a row of `FORMS`. A new one is one more row: how a call is written, what is around it, what the
extractor is told, and what the form cannot carry.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from generated_calls import ANY, ANY_NAME, IDENTIFIERS, NAMES, Carries, GeneratedCall, any_string
from llama3_tools import PromptFormat, render_tool_call, render_tool_calls

Writer: TypeAlias = Callable[[GeneratedCall], str]


@dataclass(frozen=True, slots=True)
class Form:
    """A way of writing calls into an output: blocks of calls, with prose around each."""

    name: str
    write: Writer
    """Writes one call."""
    carries: Carries = ANY
    """What the form can carry."""
    delimiters: tuple[str, ...] = ("; ", " ; ", ";\n", "\n", " ", "", ", ")
    """What may be between two calls of a block; nothing where a block holds but one."""
    around: tuple[str, str] = ("", "")
    """What is around a block."""
    edges: tuple[str, str] = ("", "")
    """What is at the start and at the end of the output."""
    undeclared: Mapping[str, Any] | None = field(default_factory=dict)
    """The options with which an extractor reads it without declared tools; `None`: it is not read then."""
    write_all: Callable[[Sequence[GeneratedCall]], str] | None = None
    """Writes all calls of a block, with what is between them."""

    def block(self, calls: Sequence[GeneratedCall], delimiter: str) -> str:
        """Write the calls of a block."""
        return self.write_all(calls) if self.write_all else delimiter.join(map(self.write, calls))


@dataclass(frozen=True, slots=True)
class _Style:
    """How a value of JSON's is written."""

    string: Callable[[str], str]
    number: Callable[[float], str] = repr
    words: tuple[str, str, str] = ("null", "false", "true")
    comma: str = ", "
    colon: str = ": "
    indent: str | None = None

    def write(self, value: object, level: int = 1) -> str:
        if value is None or isinstance(value, bool):
            return self.words[0 if value is None else 1 + value]
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, list):
            return self._enclosed("[", (self.write(item, level + 1) for item in value), "]", level)
        if isinstance(value, dict):
            members = (f"{self.string(key)}{self.colon}{self.write(value[key], level + 1)}" for key in value)
            return self._enclosed("{", members, "}", level)
        return str(value)

    def _enclosed(self, opening: str, items: Iterable[str], closing: str, level: int) -> str:
        written = list(items)
        if self.indent is None or not written:
            return f"{opening}{self.comma.join(written)}{closing}"
        inner, outer = (f"\n{self.indent * deep}" for deep in (level, level - 1))
        return f"{opening}{inner}{f',{inner}'.join(written)}{outer}{closing}"


def _html_safe(text: str) -> str:
    """Write a string as `tojson` of plain Jinja does, so that it can be in HTML."""
    written = json.dumps(text)
    for char in "<>&'":
        written = written.replace(char, f"\\u{ord(char):04x}")
    return written


def _with_a_zero(number: float) -> str:
    return repr(number) if "e" in repr(number) else f"{number!r}0"


_in_unicode = partial(json.dumps, ensure_ascii=False)
_JSON = _Style(_in_unicode)
_ASCII = _Style(json.dumps)
_COMPACT = _Style(_in_unicode, number=_with_a_zero, comma=",", colon=":")
_INDENTED = _Style(_in_unicode, number="{:.17e}".format, indent="    ")
_HTML_SAFE = _Style(_html_safe)
_JSON_STYLES = {"": _JSON, " ascii": _ASCII, " compact": _COMPACT, " indented": _INDENTED, " html-safe": _HTML_SAFE}

_PYTHON = _Style(repr, words=("None", "False", "True"))
# In double quotes JSON's strings are Python's, too.
_DOUBLE_QUOTES = _Style(_in_unicode, words=_PYTHON.words, number=_with_a_zero)
_PYTHON_ASCII = _Style(json.dumps, "{:.17E}".format, _PYTHON.words, ",", ":")
_PYTHON_STYLES = {"": _PYTHON, " double quotes": _DOUBLE_QUOTES, " ascii": _PYTHON_ASCII}

# What forms cannot carry is said by the comments; all the rest they are given. No call looks like its tool's schema,
# `"parameters": {"type": "object", "properties": {…}}`, which is none (principle 1).

# A template that puts the name into JSON as it is: quotes, backslashes and controls in it.
_UNESCAPED_NAME = Carries(tuple(name for name in ANY_NAME if json.dumps(name, ensure_ascii=False) == f'"{name}"'))

# `<function=NAME>`: a name with anything but letters, digits and `_.:/-` in it, or of more than 128 characters.
_TAGGED_NAME = Carries((*NAMES, "7zip", "-", "."))

# `NAME(…)`: the same, and a name that does not begin with a letter or `_`.
_PYTHON_NAME = Carries(NAMES)

# `NAME(KEY=…)`: the same, and keys that are no identifiers.
_PYTHON_NAMES = Carries(NAMES, IDENTIFIERS)


def _plain_string(seeded: random.Random) -> str:
    return "".join(char for char in any_string(seeded) if char not in '"\\\n\r')


def _string_as_it_is(seeded: random.Random) -> str:
    return "".join(char for char in any_string(seeded) if char not in '"\n\r').rstrip("\\")


# `NAME.call(KEY="VALUE")`, which is read as Meta's decoder reads it: the same, all values but strings, and in those
# quotes, line breaks, and backslashes at the end.
_STRINGS_AS_THEY_ARE = Carries(NAMES, IDENTIFIERS, _string_as_it_is)

# `NAME(KEY="VALUE")` of a template that puts the value in as it is: the same, all values but strings, and in those
# quotes, backslashes and line breaks.
_PLAIN_STRINGS = Carries(NAMES, IDENTIFIERS, _plain_string)


def _rendered(prompt_format: PromptFormat, style: _Style | None = None) -> Writer:
    """Render a call for a prompt, the arguments given as they are or as text."""
    return lambda call: render_tool_call(
        call.name, style.write(call.arguments) if style else call.arguments, prompt_format=prompt_format
    )


_rendered_together = partial(render_tool_calls, prompt_format="pythonic")


def _named(call: GeneratedCall) -> dict[str, Any]:
    return {"name": call.name, "parameters": call.arguments}


def _hermes(call: GeneratedCall) -> dict[str, Any]:
    return {"arguments": call.arguments, "name": call.name}


def _object(shape: Callable[[GeneratedCall], dict[str, Any]], style: _Style = _JSON) -> Writer:
    return lambda call: style.write(shape(call))


def _filled_in(style: _Style) -> Writer:
    return lambda call: f'{{"name": "{call.name}", "parameters": {style.write(call.arguments)}}}'


def _tagged(style: _Style) -> Writer:
    return lambda call: f"<function={call.name}>{style.write(call.arguments)}</function>"


def _in_tag(write: Writer) -> Writer:
    return lambda call: f"<tool_call>\n{write(call)}\n</tool_call>"


def _python(style: _Style) -> Writer:
    def write(call: GeneratedCall) -> str:
        arguments = (f"{key}={style.write(value)}" for key, value in call.arguments.items())
        return f"{call.name}({style.comma.join(arguments)})"

    return write


def _filled_into_python(name_ending: str) -> Writer:
    def write(call: GeneratedCall) -> str:
        arguments = ", ".join(f'{key}="{value}"' for key, value in call.arguments.items())
        return f"{call.name}{name_ending}({arguments})"

    return write


_HEADER = "<|start_header_id|>assistant<|end_header_id|>\n\n"
_ITEMS = (", ", ",\n ", ",")
_SPACE = (" ", "")  # right behind a word, brackets are an index, as in `a[f()]` (principle 3)
_BRACKETS = (" [", "]")
_LINE = ("\n", "\n")

FORMS = (
    # What `render_tool_prompt` and `render_response_prompt` ask for, as it is shown to the model afterwards.
    Form("rendered json", _rendered("json")),
    Form("rendered function", _rendered("function")),
    Form("rendered pythonic", _rendered("pythonic"), around=_SPACE, undeclared=None),
    *(
        Form(name, _rendered("pythonic"), carries, around=_SPACE, undeclared=None, write_all=_rendered_together)
        for name, carries in (("rendered pythonic list", _PYTHON_NAMES), ("rendered pythonic list or not", ANY))
    ),
    Form("rendered pythonic line", _rendered("pythonic"), around=_LINE, undeclared=None),
    Form("rendered json of text", _rendered("json", _INDENTED)),
    Form("rendered function of text", _rendered("function", _COMPACT)),
    Form("rendered pythonic of text", _rendered("pythonic", _ASCII), around=_SPACE, undeclared=None),
    Form("response", _object(_hermes), delimiters=(), around=('{"message": "", "tool_call": ', "}")),
    Form("responses", _object(_hermes), delimiters=_ITEMS, around=('{"tool_calls": [', '], "message": ""}')),
    # meta-llama/llama-models: llama3_1/prompt_format.md, "JSON based tool calling".
    *(Form(f"json{name}", _object(_named, style)) for name, style in _JSON_STYLES.items()),
    Form(
        "json typed",
        _object(lambda call: {"type": "function", **_named(call)}),
        around=("<|python_tag|>", ""),
        edges=("", "<|eom_id|>"),
    ),
    Form("json array", _object(_named), delimiters=_ITEMS, around=_BRACKETS, edges=(_HEADER, "<|eot_id|>")),
    Form("json openai", _object(lambda call: {"type": "function", "function": _hermes(call)})),
    Form(
        "json misplaced name",
        _object(lambda call: {"type": "function", "function": call.name, "parameters": call.arguments}),
    ),
    # The template of Llama 3.1, 3.2 and 3.3 (tokenizer_config.json): within `transformers`, and with plain Jinja.
    *(
        Form(f"template{name}", _filled_in(style), _UNESCAPED_NAME, (), edges=(_HEADER, "<|eom_id|>"))
        for name, style in (("", _JSON), (" html-safe", _HTML_SAFE))
    ),
    Form(
        "template of text",
        _object(lambda call: {"name": call.name, "parameters": _JSON.write(call.arguments)}),
        edges=(_HEADER, "<|eot_id|>"),
    ),
    # The template of Llama 4: text is between the two tags, and calls follow without anything between them.
    Form(
        "template of llama 4",
        _filled_in(_JSON),
        _UNESCAPED_NAME,
        ("",),
        around=("<|python_end|>", ""),
        edges=("<|header_start|>assistant<|header_end|>\n\n<|python_start|>", "<|eot|>"),
    ),
    # meta-llama/llama-models: llama3_1/prompt_format.md, "User-defined custom tool calling".
    *(
        Form(f"function{name}", _tagged(style), _TAGGED_NAME, edges=(_HEADER, "<|eot_id|>"))
        for name, style in _JSON_STYLES.items()
    ),
    # meta-llama/llama-models: llama3_1/prompt_format.md, "Built in Python based tool calling".
    Form(
        "built-in",
        _filled_into_python(".call"),
        _STRINGS_AS_THEY_ARE,
        (),
        around=("<|python_tag|>", "<|eom_id|>"),
        edges=(_HEADER, ""),
        undeclared=None,
    ),
    # meta-llama/llama-models: llama3_2/text_prompt_format.md, "Zero-shot function calling"; llama3_3, llama4.
    *(
        Form(f"pythonic{name}", _python(style), _PYTHON_NAMES, _ITEMS, _BRACKETS, (_HEADER, "<|eot_id|>"), None)
        for name, style in _PYTHON_STYLES.items()
    ),
    Form("pythonic line", _python(_PYTHON), _PYTHON_NAMES, _ITEMS, ("\n[", "]\n"), ("", "<|eot_id|>"), None),
    Form(
        "pythonic python_tag",
        _python(_DOUBLE_QUOTES),
        _PYTHON_NAMES,
        _ITEMS,
        ("<|python_tag|>[", "]<|eom_id|>"),
        undeclared=None,
    ),
    Form(
        "pythonic python_start",
        _python(_PYTHON),
        _PYTHON_NAMES,
        _ITEMS,
        ("<|python_start|>[", "]<|python_end|>"),
        ("<|header_start|>assistant<|header_end|>\n\n", "<|eot|>"),
        None,
    ),
    Form(
        "pythonic of an object",
        lambda call: f"{call.name}({_PYTHON.write(call.arguments)})",
        _PYTHON_NAME,
        _ITEMS,
        _BRACKETS,
        undeclared=None,
    ),
    Form("pythonic template", _filled_into_python(""), _PLAIN_STRINGS, _ITEMS, _BRACKETS, undeclared=None),
    Form("pythonic without brackets", _python(_PYTHON), _PYTHON_NAMES, (", ", "; ", "\n"), _LINE, undeclared=None),
    # Hermes 2 Pro and Hermes 2 Theta (NousResearch); Llama-3-Groq-Tool-Use (Groq), which counts its calls.
    *(Form(f"hermes{name}", _in_tag(_object(_hermes, style))) for name, style in _JSON_STYLES.items()),
    Form("groq", _in_tag(_object(lambda call: {"id": 0, **call._asdict()})), edges=(_HEADER, "<|eot_id|>")),
    # Finetunes in ChatML, and what they write instead of `<tool_call>`.
    Form("chatml", _in_tag(_object(_hermes)), edges=("<|im_start|>assistant\n", "<|im_end|>\n")),
    Form("chatml alone", _object(_hermes), delimiters=(), around=("<|im_start|>\n", "\n<|im_end|>")),
    *(
        Form(f"hermes {tag}", _object(_hermes), around=(f"<{tag}>\n", f"\n</{tag}>"))
        for tag in ("tool", "tools", "function", "functioncall", "function_call")
    ),
    Form("functioncall", _object(_hermes), delimiters=(), around=("<functioncall ", ">")),
    # Llama-Nemotron (Nvidia).
    Form("nemotron", _object(_hermes), delimiters=_ITEMS, around=("<TOOLCALL>[", "]</TOOLCALL>")),
    # What the 8B writes around them.
    Form("fence", _object(_named), around=("\n```json\n", "\n```\n")),
)
