"""Which forms of calls are read (rule 11), and how the options that say so are checked."""

from __future__ import annotations

from typing import Any, Literal, get_args

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, FormatName
from llama3_tools.formats import require_formats

CALL = '{"name": "f", "parameters": {"a": 1}}'
OUTPUTS = {
    "json": CALL,
    "fence": f"```json\n{CALL}\n```",
    "tool_call": f"<tool_call>{CALL}</tool_call>",
    "tool": f"<tool>{CALL}</tool>",
    "tools": f"<tools>[{CALL}]</tools>",
    "functioncall": f"<functioncall> {CALL}",
    "function": '<function=f>{"a": 1}</function>',
    "pythonic": "[f(a=1)]",
    "line": "f(a=1)",
    "code": "<|python_tag|>f(1)",
    "token": f"<|python_tag|>{CALL}<|eom_id|>",
    "python_start": f"<|python_start|>{CALL}<|python_end|>",
}
TOOLS = [{"name": "f", "parameters": {"properties": {"a": {}}}}, {"name": "code_interpreter"}]


class TestNone:
    """With `"none"` no call is read: nothing but reasoning is taken out of the text, to the last character."""

    TEXTS = (
        *OUTPUTS.values(),
        'Here:\n```json\n{"message": "Hi", "tool_call": null}\n```\nDone.',
        '{"message": "Hi", "tool_calls": []}',
        f"```\n{CALL}\n```\n~~~json\n[{CALL}]\n~~~",
        "<tool_call></tool_call>; <|python_start|>x<|python_end|>",
        f" <|start_header_id|>assistant<|end_header_id|>\n\nYes; {CALL}; \n<|eot_id|>\n",
    )

    @pytest.mark.parametrize("options", [{}, {"tools": TOOLS, "lenient": True, "repair": True}])
    @pytest.mark.parametrize("text", TEXTS)
    def test_all_is_text(self, text: str, options: dict[str, Any]):
        extraction = extract_in_every_chunking(text, formats="none", **options)
        assert (extraction.content, extraction.tool_calls, extraction.rejections) == (text, (), ())

    @pytest.mark.parametrize("text", TEXTS)
    def test_reasoning_is_split_off(self, text: str):
        extraction = extract_in_every_chunking(f"<think>{CALL}?</think>{text}", formats="none", split_reasoning=True)
        assert (extraction.content, extraction.reasoning) == (text.strip(), f"{CALL}?")
        assert not extraction.tools_called

    def test_the_output_may_begin_inside_reasoning(self):
        options = {"split_reasoning": True, "starts_reasoning": True, "formats": "none"}
        extraction = extract_in_every_chunking(f"Is it f?</think> {CALL}", **options)
        assert (extraction.content, extraction.reasoning) == (CALL, "Is it f?")

    @pytest.mark.parametrize("quotation", ["```python\n{}\n```", "<tool_response>{}</tool_response>"])
    def test_reasoning_that_is_quoted_stays(self, quotation: str):
        text = quotation.format("<think>x</think>")
        assert extract_in_every_chunking(text, formats="none", split_reasoning=True).content == text


class TestJsonNotAskedFor:
    """JSON in a fence or after tokens is asked for as `json`; in the tags that hold JSON, as theirs."""

    @pytest.mark.parametrize("formats", [["pythonic"], ["tool_call"], ["function"], ["code"]])
    @pytest.mark.parametrize("json", [CALL, f"[{CALL}]", f'{{"tool_call": {CALL}}}'])
    @pytest.mark.parametrize(
        "around",
        [
            "{}",
            "```json\n{}\n```",
            "```\n{}\n```",
            "~~~python\n{}\n~~~",
            "<|python_start|>{}<|python_end|>",
            "<|python_tag|>{}<|eom_id|>",
            "Example:\n```json\n<|python_start|>{}<|python_end|>\n```",
        ],
    )
    def test_is_not_read_bare_or_in_a_fence_or_after_a_token(self, formats: Any, json: str, around: str):  # noqa: ANN401
        for options in ({}, {"tools": TOOLS}, {"tools": TOOLS, "repair": True, "lenient": True}):
            extraction = extract_in_every_chunking(around.format(json), is_sampled=True, formats=formats, **options)
            assert {call.format for call in extraction.tool_calls} <= {"code"}  # a list may be code

    @pytest.mark.parametrize("json", [f"[{CALL}]", CALL, f"```json\n{CALL}\n```", f'{{"tool_call": {CALL}}}'])
    @pytest.mark.parametrize("formats", [["tool_call"], ["tool_call", "pythonic"]])
    def test_is_read_in_a_tag(self, formats: Any, json: str):  # noqa: ANN401
        for around in ("{}", "<|python_tag|>{}<|eom_id|>", "<|python_start|>{}<|python_end|>"):
            text = around.format(f"<tool_call>{json}</tool_call>")
            extraction = extract_in_every_chunking(text, formats=formats)
            assert (extraction.content, len(extraction.tool_calls)) == (None, 1)

    def test_leaves_what_was_asked_for_in_a_fence(self):
        assert extract_in_every_chunking("```python\n[f(a=1)]\n```", formats=["pythonic"]).tools_called
        assert extract_in_every_chunking(f"```\n{OUTPUTS['tool_call']}\n```", formats=["tool_call"]).content is None
        text = '```json\n<function=f>{"a": 1}</function>\n```'
        assert extract_in_every_chunking(text, formats=["function"]).tools_called


WRITTEN = [
    (CALL, "json", ["json"]),
    (f"<|python_tag|>{CALL}", "json", ["json"]),
    (f'{{"tool_call": {CALL}}}', "envelope", ["json"]),
    (f'<tool_call>{{"tool_call": {CALL}}}</tool_call>', "tool_call", ["tool_call"]),
    (f"```json\n{CALL}\n```", "fence", ["json"]),
    ("```json\n<function=f>{}</function>\n```", "fence", ["function"]),
    (f"<tool_call>```json\n{CALL}\n```</tool_call>", "tool_call", ["tool_call"]),
    ("<tool_call><function=f>{}</function></tool_call>", "tool_call", ["tool_call", "function"]),
    ("<tool_call>[f()]</tool_call>", "pythonic", ["tool_call", "pythonic"]),
    (f"<TOOLCALL>[{CALL}]</TOOLCALL>", "tool_call", ["tool_call"]),
    (f"<tool-use>{CALL}</tool-use>", "tool", ["tool"]),
    (f"<tools>{CALL}</tools>", "tools", ["tools"]),
    (f"<function_call>{CALL}</function_call>", "functioncall", ["functioncall"]),
    (f"<function>{CALL}</function>", "function", ["function"]),
    ("<function=f>{}</function>", "function", ["function"]),
    (f"<|python_start|>{CALL}<|python_end|>", "python_start", ["json"]),
    ("<|python_start|><function=f>{}</function><|python_end|>", "python_start", ["function"]),
    ("<|python_start|>[f()]<|python_end|>", "pythonic", ["pythonic"]),
    ("```\n[f()]\n```", "pythonic", ["pythonic"]),
    ("<|python_tag|>x = 1", "code", ["code"]),
]


@pytest.mark.parametrize(("text", "format_", "asked"), WRITTEN)
def test_a_call_says_how_it_was_written(text: str, format_: str, asked: list[FormatName]):
    """As the table in rule 11 has it; and nothing else asks for it."""
    assert [call.format for call in extract_in_every_chunking(text, formats=asked).tool_calls] == [format_]
    others = [name for name in require_formats("all") or () if name not in {*asked, "code"}]
    assert format_ not in [call.format for call in extract_in_every_chunking(text, formats=others).tool_calls]


class TestTheOption:
    @pytest.mark.parametrize(
        ("formats", "names"),
        [
            (None, None),
            ("json", ("json",)),
            (["code", "json"], ("code", "json")),
            ("none", ("none",)),
            (["none"], ("none",)),
            (("none", "json"), ("json",)),
        ],
    )
    def test_names_one_or_several_formats(self, formats: Any, names: Any):  # noqa: ANN401 - as Extractor takes them
        assert require_formats(formats) == names

    def test_all_is_each_of_them(self):
        names = require_formats("all")
        assert names == require_formats(["all"]) == require_formats(["json", "all", "none"]) == require_formats(names)
        assert set(names or ()) == {*get_args(FormatName)} - {"all", "none"}

    def test_all_is_each_of_them_wherever_a_name_is_added(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("llama3_tools.formats.FormatName", Literal["all", "json", "none", "code", "tools"])
        assert require_formats("all") == ("json", "code", "tools")

    @pytest.mark.parametrize(
        ("formats", "found"),
        [("xml", "'xml'"), (["json", "xml", "yaml"], "'xml'"), ([], "an empty list"), ("", "''")],
    )
    def test_takes_no_name_that_no_format_has(self, formats: Any, found: str):  # noqa: ANN401 - on purpose
        with pytest.raises(ValueError, match="formats can be") as error:
            Extractor(formats=formats)
        assert str(error.value) == f"formats can be {', '.join(get_args(FormatName))}, not {found}"

    @pytest.mark.parametrize("formats", [1, True, 0.5, b"json", bytearray(b"json")])
    def test_takes_nothing_else(self, formats: Any):  # noqa: ANN401 - on purpose
        with pytest.raises(TypeError) as error:
            Extractor(formats=formats)
        names = ", ".join(get_args(FormatName))
        assert str(error.value) == f"formats is a name, or a list of names, out of {names}; not {formats!r}"
