"""A tag is data: whatever its name and its texts are, calls in it are read, or the tag is refused where it is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, FormatName
from llama3_tools.formats import _FORMATS, added, switched_off
from llama3_tools.formats.base import Kind, WireFormat, tag

CALL = '{"name": "f", "parameters": {"a": 1}}'
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}]
TAGS = {
    "a plain tag": ("answer", "<answer>", "</answer>"),
    "a long closing": ("request", "<function_call_request>", "</function_call_request>"),
    "the longest texts": ("longest", f"<{'x' * 126}>", f"</{'x' * 125}>"),
    "a token": ("call_token", "<|call|>", "<|/call|>"),
    "Kimi's tokens": ("section", "<|tool_call_begin|>", "<|tool_call_end|>"),
    "digits": ("v2", "<2x>", "</2x>"),
    "hyphens": ("my_tag", "<my-tag>", "</my-tag>"),
    "dots and colons": ("ns", "<ns:call.1>", "</ns:call.1>"),
    "attributes": ("attributed", '<invoke kind="json">', "</invoke>"),
    "a blank": ("blank", "<call ", "/>"),
    "characters of patterns": ("pattern", "<(.*)+?>", "</(.*)+?>"),
    "letters that are not ASCII": ("utf8", "<вызов>", "</вызов>"),
    "DeepSeek's bars": ("bars", "<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>"),
    "brackets": ("brackets", "[CALL]", "[/CALL]"),
    "braces": ("braces", "{{call}}", "{{/call}}"),
    "one brace": ("brace", "{%", "%}"),
    "parentheses": ("parentheses", "((", "))"),
    "dollars": ("dollars", "$call$", "$end$"),
    "a colon": ("colon", "::call", "::end"),
    "angles": ("angles", "<<", "|>"),
    "quotes": ("quotes", '"""call', '"""end'),
    "dashes": ("dashes", "---", "==="),
    "tildes": ("tilde", "~call~", "~end~"),
    "the closing of another": ("other_end", "<do>", "</tool_call>"),
    "what closes with >": ("angle", "<do ", ">"),
    "the beginning of another's opening": ("tool_calls", "<tool_calls>", "</tool_calls>"),
}


def read(format_: WireFormat, text: str, **options: object) -> Extraction:
    with added(format_):
        return extract_in_every_chunking(text, **options)


@pytest.mark.parametrize(("name", "opening", "closing"), TAGS.values(), ids=TAGS)
class TestAwkwardTags:
    @pytest.mark.parametrize("options", [{}, {"tools": TOOLS}, {"tools": TOOLS, "repair": True}], ids=str)
    def test_hold_calls(self, name: str, opening: str, closing: str, options: dict[str, object]):
        text = f"Here: {opening}{CALL}{closing} Done."
        extraction = read(tag(name, {opening: closing}), text, **options)
        assert [(call.name, call.format) for call in extraction.tool_calls] == [("f", name)]
        assert (extraction.content, extraction.rejections) == ("Here: Done.", ())

    def test_hold_several_calls_and_lists_with_white_space(self, name: str, opening: str, closing: str):
        text = f"{opening}\n {CALL}\n[{CALL}, {CALL}]\n{closing}\n{opening}{CALL}{closing}"
        extraction = read(tag(name, {opening: closing}), text)
        assert [call.format for call in extraction.tool_calls] == [name] * 4
        assert extraction.content is None

    def test_hold_pythonic_calls(self, name: str, opening: str, closing: str):
        extraction = read(tag(name, {opening: closing}), f"{opening}[f(a=1)]{closing}", tools=TOOLS)
        assert [call.format for call in extraction.tool_calls] == ["pythonic"]
        assert extraction.content is None

    def test_are_closed_by_the_end(self, name: str, opening: str, closing: str):
        text = f"{opening}{CALL}"
        assert read(tag(name, {opening: closing}), text).tool_calls[0].format == name
        cut = read(tag(name, {opening: closing}), text, complete=False)
        assert [call.format for call in cut.tool_calls] == ["json"]  # the object is whole (rule 7)

    def test_may_stand_in_a_fence_and_in_another_tag(self, name: str, opening: str, closing: str):
        for before, after, format_ in (("```\n", "\n```", "fence"), ("<TOOLCALL>", "</TOOLCALL>", "tool_call")):
            extraction = read(tag(name, {opening: closing}), f"{before}{opening}{CALL}{closing}{after}")
            assert [call.format for call in extraction.tool_calls] == [format_]
            assert extraction.content is None

    def test_make_an_attempt_of_what_fails_in_them(self, name: str, opening: str, closing: str):
        text = f'{opening}{{"city": "Paris"}}{closing}'
        format_ = tag(name, {opening: closing})
        assert read(format_, text).attempts
        assert not read(tag(name, {opening: closing}, is_for_calls=False), text).attempts
        assert not read(format_, f"{opening} is how it begins.").attempts

    def test_close_once_more(self, name: str, opening: str, closing: str):
        extraction = read(tag(name, {opening: closing}), f"{opening}{CALL}{closing}{closing}")
        assert (extraction.content, len(extraction.tool_calls)) == (None, 1)

    def test_hold_json_if_they_are_asked_for(self, name: str, opening: str, closing: str):
        text = f"{opening}{CALL}{closing}"
        with added(tag(name, {opening: closing})):
            assert not extract_in_every_chunking(text, formats=["tool_call"]).tools_called


def test_one_tag_may_begin_with_another():
    format_ = tag("calls", {"<zq": "/>", "<zq_all>": "</zq_all>", "<zq>": "</zq>"})
    for text in (f"<zq {CALL}/>", f"<zq>{CALL}</zq>", f"<zq_all>{CALL}</zq_all>"):
        extraction = read(format_, text)
        assert (extraction.content, [call.format for call in extraction.tool_calls]) == (None, ["calls"])


def test_fields_say_what_a_tag_holds():
    text = '<do>{"tool_name": "f", "parameters": {}}</do>'
    do = tag("do", {"<do>": "</do>"})
    assert not read(do, text).tools_called
    assert read(replace(do, reads_tool_name=True), text).tools_called
    json_is_not_asked_for = f"<do>{CALL}</do>"
    always = replace(do, asked_for_as=None)
    assert read(always, json_is_not_asked_for, formats=["tool_call"]).tools_called
    assert not read(replace(always, holds_json=False), json_is_not_asked_for, formats=["tool_call"]).tools_called


def test_a_tag_may_be_closed_once_more_by_another_text():
    text = f"<do {CALL}/></do>"
    do = tag("do", {"<do ": "/>"})
    assert read(do, text).content == "</do>"
    assert read(replace(do, surplus={"/>": "</do>"}), text).content is None


def test_what_is_added_is_read_meanwhile_only():
    with added(tag("do", {"<do>": "</do>"})):
        pass
    assert extract_in_every_chunking(f"<do>{CALL}</do>").content == "<do> </do>"


REFUSED = [
    ("my-tag", {"<my-tag>": "</my-tag>"}, "no format can be named 'my-tag': .* such as 'my_tag' for <my-tag>"),
    ("call", {"<a>": "</a>"}, "'call': 'call', 'end', 'more' are taken; add a word, such as 'call_tag'"),
    ("end", {"<end>": "</end>"}, "no format can be named 'end': .* 'end_tag'"),
    ("more", {"<more>": "</more>"}, "no format can be named 'more': .* 'more_tag'"),
    ("2x", {"<2x>": "</2x>"}, "no format can be named '2x'"),
    ("", {"<x>": "</x>"}, "no format can be named ''"),
    ("x", {"<x>": ""}, "'' cannot close a format: name what may close it, even if nothing has to"),
    ("x", {"": "</x>"}, "'' cannot open a format"),
    ("x", {"<": "</x>"}, "'<' cannot open a format: write 2 to 128 characters"),
    ("x", {"<x>": f"</{'x' * 126}>"}, "cannot close a format: write 2 to 128 characters"),
    ("x", {"<x>": "\n\n"}, r"'\\n\\n' cannot close a format: begin with no white space"),
    ("x", {"<x>": ";;"}, "';;' cannot close a format: begin with no white space, ',' or ';'"),
    ("x", {"<x>": ",x"}, "',x' cannot close a format: begin with no white space, ',' or ';'"),
    ("x", {"<x>": " x"}, "' x' cannot close a format: begin with no white space, ',' or ';'"),
    ("x", {"X:": "</x>"}, "'X:' cannot open a format: begin with no letter, digit or '_'"),
    ("x", {"_x": "</x>"}, "'_x' cannot open a format: begin with no letter, digit or '_'"),
    ("x", {"*x": "</x>"}, r"'\*x' cannot open a format: begin with no '\*', which quotes a line, or closes wrappers"),
    ("x", {"CALL:": "</x>"}, "'CALL:' cannot open a format: begin with no letter, digit or '_'"),
    ("x", {"<x>": "END"}, "'END' cannot close a format: begin with no letter"),
    ("x", {"**x": "</x>"}, r"'\*\*x' cannot open a format: begin with no '\*'"),
    ("x", {"<x>": "]]"}, r"'\]\]' cannot close a format: begin with no '\]'"),
    ("x", {"<x>": ">>"}, "'>>' cannot close a format: begin with no '>', which quotes a line"),
    ("x", {">>x": "</x>"}, "'>>x' cannot open a format: begin with no '>', which quotes a line"),
    ("x", {"<x>": "{"}, "'{' cannot close a format: write 2 to 128 characters"),
    ("x", {"<x>": "<x>"}, "'<x>' cannot open a format: '<x>' closes one; close it with another text"),
    ("x", {"--x": "--"}, "'--x' cannot open a format: '--' closes one; close it with another text"),
    ("x", {"<x>": "</x>", "[x]": "[/x]"}, r"the openings of 'x' begin with \['<', '\['\]: make a tag of those of each"),
    ("x", {}, "the openings of 'x' begin with"),
]


def test_what_comes_after_the_first_character_may_be_anything():
    made = tag("x", {"< x>": "</ x>", "<_x>": "</x>", "<,>": "</,>"})
    assert (made.first, made.second, made.beginnings) == ("<", r"[\ ,_]", "")


@pytest.mark.parametrize(("name", "closings", "message"), REFUSED)
def test_what_cannot_be_read_is_refused_with_the_cure(name: str, closings: dict[str, str], message: str):
    with pytest.raises(ValueError, match=message):
        tag(name, closings)


@pytest.mark.parametrize(
    ("formats", "shared"),
    [
        ([tag("tool", {"<a>": "</a>"})], "tool"),
        ([tag("ticks", {"<a>": "</a>"})], "ticks"),
        ([tag("a", {"<tool>": "</a>"})], "<tool>"),
        ([tag("a", {"<a>": "</a>"}), tag("a", {"<b>": "</b>"})], "a"),
    ],
)
def test_formats_that_cannot_be_told_apart_are_refused(formats: Iterable[WireFormat], shared: str):
    with pytest.raises(ValueError, match=f"'{shared}' belongs to two formats"), added(*formats):
        pass


def test_a_tag_that_opens_with_the_closing_of_another_is_refused():
    formats = tag("a", {"<a>": "--"}), tag("b", {"--b": "</b>"})
    with pytest.raises(ValueError, match="'--b' cannot open a format: '--' closes one"), added(*formats):
        pass


def test_the_formats_that_there_are_keep_the_rules():
    with added():  # they can be told apart
        pass
    names = {format_.asked_for_as for format_ in _FORMATS} - {None}
    assert names <= set(get_args(FormatName))
    for format_ in _FORMATS:
        if format_.kind is Kind.TAG:
            assert tag(format_.name, format_.closings).opening == format_.opening


def test_a_tag_does_not_depend_on_others():
    with switched_off("tool_call", "tool", "tools", "functioncall", "function", "function_end", "fence"):
        text = f"<answer>{CALL}</answer>"
        assert read(tag("answer", {"<answer>": "</answer>"}), text).tool_calls[0].format == "answer"
