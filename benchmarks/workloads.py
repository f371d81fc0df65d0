"""Outputs to measure with: what models write, and what is hard on a parser. Each comes in any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llama3_tools import Extractor, Limits

_UNLIMITED = Limits(max_call_length=1_000_000_000, max_calls=1_000_000_000, max_rejections=1_000_000_000)
"""What is bounded cannot grow: the time has to be linear without."""

CALL = '{"name": "get_weather", "parameters": {"city": "Paris", "days": 3, "units": "metric"}}'
TYPICAL = (
    "Let me check the weather for you in a moment, one second please. "
    f"{CALL}\nI will tell you as soon as I know more about it."
)
"""An output of 200 characters with one call in it."""

# What more than one output is made of.
PROSE = "Prose without a brace in it. "
PROSE_WITH_BRACES = "A set {x, y}, a list [1] and a (pair). "
LEAF = '{"a": [1, 2, {"b": "ccccccc"}]}'

_CITY = {"city": {"type": "string"}, "days": {"type": "integer"}}
_TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": _CITY}},
    {"name": "add", "parameters": {"type": "object", "properties": {"numbers": {"type": "array"}}}},
    {"name": "code_interpreter", "parameters": {"type": "object", "properties": {"code": {"type": "string"}}}},
    {"name": "clock"},
]


@dataclass(frozen=True, slots=True)
class Workload:
    """Outputs of one kind: something repeated, and mostly a call after it."""

    name: str
    """What it is called in the table."""
    unit: str
    """What is repeated."""
    before: str = ""
    after: str = f"\n{CALL}"
    closing: str = ""
    """What closes one unit: it is repeated as often, after all of them."""
    calls: int = 0
    """How many calls are in a unit."""
    calls_beside: int = 1
    """How many there are before and after them."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the extractor that reads it."""
    scale: int = 1
    """How many times as long it is measured: some growth shows only at sizes that would take other outputs minutes."""

    def make(self, size: int) -> str:
        """Make an output of about so many characters, times the scale."""
        times = self._times(size * self.scale)
        return self.before + self.unit * times + self.closing * times + self.after

    def begin(self, size: int) -> str:
        """Make what an output of so many characters or a little less begins with: it goes on with another unit."""
        return self.before + self.unit * self._times(size)

    def calls_in(self, size: int) -> int:
        """Return the number of calls in the output that `make` makes."""
        return self.calls * self._times(size * self.scale) + self.calls_beside

    def extractor(self) -> Extractor:
        """Make the extractor that reads it."""
        return Extractor(limits=_UNLIMITED, **self.options)

    def _times(self, size: int) -> int:
        return max(1, size // len(self.unit + self.closing))


_BREAK = f" so\n{CALL}"
"""Ends whatever is open: it would hold the call."""
_STRING = '{"name": "f", "parameters": {"text": "'
_PYTHONIC = "[get_weather(city='"
_BROKEN = '{"name": "get_weather", "parameters": {"city": \'Paris\', "days": 3,}}'
_TAGGED = f"<tool_call>{CALL}</tool_call>"

_WITH_TOOLS = {"tools": _TOOLS}
_ALL = {"formats": "all", **_WITH_TOOLS}
_PROGRESS = {"progress": True, **_WITH_TOOLS}
_REPAIR = {"repair": True, **_WITH_TOOLS}
_COERCE = {"coerce_arguments": True, **_WITH_TOOLS}
_THINKING = {"split_reasoning": True}
_INSIDE = {"starts_reasoning": True, **_THINKING}

GROWING: tuple[Workload, ...] = (
    # Text.
    Workload("prose", PROSE),
    Workload("prose with braces", PROSE_WITH_BRACES),
    Workload("white space", " "),
    Workload("line breaks", "\n"),
    Workload("white space by the megabyte", " ", scale=8),
    Workload("white space after a call", " \n", before=CALL, calls_beside=2),
    Workload("delimiters after a call", " ;,", before=CALL, calls_beside=2),
    # Strings and values.
    Workload("one long string", "x", before=_STRING, after=f'"}}}}\n{CALL}', calls_beside=2),
    Workload("a long string of escapes", r"\n\"\\\u00e9", before=_STRING, after=f'"}}}}\n{CALL}', calls_beside=2),
    Workload("a long string of braces", "{}[]", before=_STRING, after=f'"}}}}\n{CALL}', calls_beside=2),
    Workload(
        "wide arguments",
        f"{LEAF},",
        before='{"name": "f", "parameters": {"all": [',
        after=f"{LEAF}]}}}}\n{CALL}",
        calls_beside=2,
    ),
    Workload(
        "many keys after the name",
        '"key": 1, ',
        before='{"name": "f", "parameters": {"inner": {',
        after=f'"end": 1}}}}}}\n{CALL}',
        calls_beside=2,
    ),
    Workload(
        "arguments in a string",
        r"\"key\": 1, ",
        before=r'{"name": "f", "parameters": "{\"inner\": {',
        after=r'\"end\": 1}}"}' + f"\n{CALL}",
        calls_beside=2,
    ),
    Workload(
        "nesting beyond every limit",
        '{"a": [',
        before='{"name": "f", "parameters": ',
        closing="]}",
        after=f"}}\n{CALL}",
    ),
    Workload("arrays nested beyond every limit", "[", closing="]"),
    # What is open, or closes nothing.
    Workload("open objects", '{"a":', after=_BREAK),
    Workload("open objects up to the end", '{"a":', calls_beside=0),
    Workload("open arrays", "[", after=_BREAK),
    Workload("open arrays up to the end", "["),
    Workload("open arrays of objects", '[{"a":', after=_BREAK),
    Workload("open braces", "{"),
    Workload("open arrays by the megabyte", "[", scale=8),
    Workload("open arrays before prose", "[", after="A", calls_beside=0),
    Workload("lists and tags in turn", "[<tool>["),
    Workload("lists and tags in turn, with tools", "[<tool>[", options=_WITH_TOOLS),
    Workload("open calls, one in another", '{"name": "f", "parameters": {'),
    Workload("open spans", "`["),
    Workload("open spans and tags on a line", "`x<tool_call>`y<tool_call>"),
    Workload("open strings of calls on a line", 'f("[get_weather(', calls_beside=0, options=_WITH_TOOLS),
    Workload("open bold", '**{"'),
    Workload("closing braces", "}]"),
    Workload("quotes", '"'),
    Workload("quotes after a brace", '"', before='{"name": ', calls_beside=0),
    Workload("backslashes", "\\", before='{"name": "', calls_beside=0),
    Workload("open strings", '{"name": "f", "parameters": {"text": "abc ', calls_beside=0),
    Workload("open calls", '{"name": "f", "parameters": {"text": "abc", '),
    # Calls.
    Workload("calls", f"{CALL}; ", calls=1),
    Workload("calls with text between", f"And now: {CALL} ", calls=1),
    Workload("an array of calls", f"{CALL}, ", before="[", after=f"{CALL}]\n{CALL}", calls=1, calls_beside=2),
    Workload(
        "an envelope of calls",
        f"{CALL}, ",
        before='{"message": "Sure.", "tool_calls": [',
        after=f"{CALL}]}}\n{CALL}",
        calls=1,
        calls_beside=2,
    ),
    Workload("malformed calls", '{"name": "f", "parameters": {oops}} '),
    Workload("calls of unknown tools", '{"name": "f", "parameters": {}} ', options=_WITH_TOOLS),
    Workload("quoted calls", f"`{CALL}` "),
    Workload(
        "echoed schemas", '{"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {}}} '
    ),
    # Tags.
    Workload("tagged calls", f"{_TAGGED}\n", calls=1),
    Workload("function tags", '<function=f>{"a": 1}</function>\n', calls=1),
    Workload("tags of finetunes", f"<tools>{CALL}</tools>\n<functioncall>{CALL}</functioncall>\n", calls=2),
    Workload("half tags", "<tool_"),
    Workload("open tags", "<tool_call>"),
    Workload("open tags of finetunes", "<tools><functioncall> "),
    Workload("half function tags", "<function="),
    Workload("open function tags", "<function=f>{"),
    Workload("closing tags", "</tool_call>"),
    Workload("calls in open tags", f"<functioncall> {CALL}\n", calls=1),
    Workload("many calls in one tag", f"{CALL}\n", before="<tools>", after=f"</tools>\n{CALL}", calls=1),
    Workload("half tokens", "<|python_"),
    Workload("tokens", "<|python_tag|>"),
    Workload("headers", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
    Workload("half headers", "<|start_header_id|>assistant"),
    Workload("ChatML", f"<|im_start|>assistant\n{CALL}<|im_end|>\n", calls=1),
    Workload("half ChatML", "<|im_start|>assis"),
    # Code.
    Workload(
        "code after a tag",
        "print(1 < 2)\n",
        before="<|python_tag|>",
        after=f"<|eom_id|>\n{CALL}",
        calls_beside=2,
        options=_ALL,
    ),
    Workload("pieces of code", "<|python_tag|>print(1)<|eom_id|>\n", calls=1, options=_ALL),
    # Fences, thoughts.
    Workload("fenced calls", f"```json\n{CALL}\n```\n", calls=1),
    Workload("listings", "```python\nprint(1)\n```\n"),
    Workload("a fence that never closes", "print(1)\n", before="```python\n", calls_beside=0),
    Workload("fences that never close", "```json\n{", calls_beside=0),
    Workload("backticks", "`"),
    Workload("thoughts", "<think>x</think>", options=_THINKING),
    Workload("open thoughts", "<think>", calls_beside=0),
    Workload("half-closed thoughts", "</thin", before="<think>", calls_beside=0, options=_THINKING),
    Workload("a long thought", "Is it x? ", after=f"</think>\n{CALL}", options=_INSIDE),
    Workload("a thought of short words", "e ", before="<think>", after=f"</think>\n{CALL}", options=_THINKING, scale=4),
    Workload("a thought that never closes", "Is it x? ", calls_beside=0, options=_INSIDE),
    # Pythonic.
    Workload("pythonic calls", "[get_weather(city='Paris', days=3)]\n", calls=1, options=_WITH_TOOLS),
    Workload(
        "a long pythonic list",
        "clock(), ",
        before="[",
        after=f"clock()]\n{CALL}",
        calls=1,
        calls_beside=2,
        options=_WITH_TOOLS,
    ),
    Workload(
        "a long pythonic string",
        "x\\'",
        before=_PYTHONIC,
        after=f"')]\n{CALL}",
        calls_beside=2,
        options=_WITH_TOOLS,
    ),
    Workload(
        "nested pythonic lists", "[", before="[add(numbers=", closing="]", after=f")]\n{CALL}", options=_WITH_TOOLS
    ),
    Workload("open pythonic calls", "[get_weather(city=", calls_beside=0, options=_WITH_TOOLS),
    Workload("open pythonic lists", "[get_weather(", calls_beside=0, options=_WITH_TOOLS),
    Workload("open pythonic lists of calls", "get_weather([", calls_beside=0, options=_WITH_TOOLS),
    Workload("names before JSON", f"get_weather\n{CALL}\n", calls=1, options=_PROGRESS),
    Workload("open pythonic lines", "get_weather(city=[\n", after=_BREAK, options=_WITH_TOOLS),
    Workload("open pythonic strings", f"{_PYTHONIC}", calls_beside=0, options=_WITH_TOOLS),
    Workload("names of tools", "get_weather ", options=_WITH_TOOLS),
    Workload("pythonic prose", "[get_weather is a tool] ", options=_ALL),
    Workload("built-in tools", 'clock.call(query="x")\n', calls=1, options=_ALL),
    Workload("names before a header", "clock(<|start_header_id|>", options=_WITH_TOOLS),
    Workload("names before a token", 'clock(q="<|eot_id|>', calls_beside=0, options=_WITH_TOOLS),
    Workload("built-in tools before a token", 'brave_search.call(query="<|eot_id|>', calls_beside=0, options=_ALL),
    Workload("names before a header, a line each", "clock(<|start_header_id|>\n", options=_WITH_TOOLS),
    # Other keys, misspelt tags.
    Workload("calls under other keys", '{"tool": "clock", "args": {"a": 1}}\n', calls=1, options=_WITH_TOOLS),
    Workload("misspelled tags", '<function=clock{"a": 1}<function>\n', calls=1, options=_WITH_TOOLS),
    Workload("open misspelled tags", "<function(clock){", options=_WITH_TOOLS),
    Workload("malformed calls under other keys", '{"tool": "clock", "args": {oops}} ', options=_WITH_TOOLS),
    # Repairs, coercion.
    Workload("malformed calls, repaired", f"{_BROKEN}\n", calls=1, options=_REPAIR),
    Workload("malformed calls beyond repair", '{"name": "get_weather", "parameters": {oops}} ', options=_REPAIR),
    Workload(
        "open malformed calls", '{"name": "get_weather", "parameters": {\'city\': ', calls_beside=0, options=_REPAIR
    ),
    Workload("open comments, to repair", "{/*", options=_REPAIR),
    Workload("open objects, to repair", '{"name": ', after=_BREAK, options=_REPAIR),
    Workload(
        "a long string to repair",
        "x",
        before='{"name": "get_weather", "parameters": {"city": "',
        after=f'",}}}}\n{CALL}',
        calls_beside=2,
        options=_REPAIR,
    ),
    Workload(
        "a long list to repair",
        "1, ",
        before='{"name": "add", "parameters": {"numbers": [',
        after=f"]}}}}\n{CALL}",
        calls_beside=2,
        options=_REPAIR,
    ),
    Workload(
        "calls with numbers in strings",
        '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}\n',
        calls=1,
        options=_COERCE,
    ),
    Workload(
        "a long list in a string",
        "1, ",
        before='{"name": "add", "parameters": {"numbers": "[',
        after=f'1]"}}}}\n{CALL}',
        calls_beside=2,
        options=_COERCE,
    ),
)
"""What the time must not grow faster on than the output does."""
