"""Tools that are given again and again are read once, and no others are taken for them."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from llama3_tools import ToolDefinitionError, new_call_id, render_tool_prompt
from llama3_tools.chat.toolset import Toolset, kept_toolset

CITY = {"type": "string"}
DAYS = {"type": "integer", "default": 1}
PROPERTIES = {"city": CITY, "days": DAYS}
CALL = '{"name": "f", "parameters": {}}'


def tools(properties: dict[str, Any], **fields: str) -> list[dict[str, Any]]:
    return [{"name": "f", "parameters": {"type": "object", "properties": properties}, **fields}]


@dataclass
class Ids:
    """Equal to others of its kind, and so without a hash."""

    given: str = "id"

    def __call__(self) -> str:
        return self.given


def test_the_same_tools_are_read_once():
    read: list[object] = []

    def reader(given: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        read.append(given)
        return given

    kept = kept_toolset(tools(PROPERTIES), reader)
    assert kept_toolset(copy.deepcopy(tools(PROPERTIES)), reader) is kept
    assert (len(read), list(kept.declared)) == (1, ["f"])


@pytest.mark.parametrize(
    "other",
    [
        tools(PROPERTIES, description="F"),
        tools({"city": CITY}),
        tools({"days": DAYS, "city": CITY}),  # the prompt has them in their order
        tools({"city": CITY, "days": {"type": "integer", "default": True}}),
        tools({"city": CITY, "days": {"type": "integer", "default": 1.0}}),
        [*tools(PROPERTIES), {"name": "g"}],
        [],
    ],
    ids=["description", "schema", "order", "true for 1", "1.0 for 1", "one more", "none"],
)
def test_other_tools_are_read_by_themselves(other: list[dict[str, Any]]):
    for given in (tools(PROPERTIES), other):
        assert kept_toolset(given).prompt() == render_tool_prompt(given)


def test_tools_that_change_in_place_are_read_anew():
    given = tools(copy.deepcopy(PROPERTIES))
    before = kept_toolset(given)
    given[0]["parameters"]["properties"]["units"] = {"type": "string"}
    assert kept_toolset(given).prompt() == render_tool_prompt(given) != before.prompt()
    assert before.prompt() == render_tool_prompt(tools(PROPERTIES))


def test_tools_that_are_no_json_are_refused_each_time():
    circle: dict[str, Any] = {"type": "object"}
    circle["properties"] = {"again": circle}
    for parameters in (circle, {"type": "object", "default": {1}}):
        for _ in range(2):
            with pytest.raises(ToolDefinitionError, match="cannot be written as JSON"):
                kept_toolset([{"name": "f", "parameters": parameters}])


def test_prompts_differ_by_form_and_choice():
    kept = kept_toolset(tools(PROPERTIES))
    for form in ("json", "function", "pythonic"):
        for choice in ("auto", "required", "f"):
            expected = render_tool_prompt(tools(PROPERTIES), prompt_format=form, tool_choice=choice)
            assert kept.prompt(form, choice) == kept.prompt(form, choice) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"coerce_arguments": True},
        {"on_unknown_tool": "call"},
        {"formats": ("json",)},
        {"split_reasoning": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_extractors_differ_by_their_options(options: dict[str, Any]):
    kept = Toolset(tools(PROPERTIES))
    assert kept.extractor(**options) is kept.extractor(**options)
    assert kept.extractor(**options) is not kept.extractor()
    assert kept.extractor(**options) is not Toolset(tools(PROPERTIES)).extractor(**options)


def test_ids_are_made_by_the_factory_that_was_given():
    kept, first, second = Toolset(tools(PROPERTIES)), Ids("first"), Ids("second")  # equal, if their words are
    for ids in (first, second, first):
        assert [call.id for call in kept.extractor(id_factory=ids).extract(CALL).tool_calls] == [ids.given]
    assert kept.extractor(id_factory=first).tools == kept.declared
    assert not kept.extractor(id_factory=first, formats="none").extract(CALL).tools_called
    assert kept.extractor(id_factory=new_call_id) is kept.extractor()


def test_no_factory_of_the_caller_s_is_kept():
    kept, ids = Toolset(tools(PROPERTIES)), Ids()
    for factory in (ids, ids.__call__):
        assert kept.extractor(id_factory=factory).extract(CALL).tools_called
    session = weakref.ref(ids)
    del ids, factory
    gc.collect()
    assert session() is None


def test_coercers_are_those_of_the_schemas():
    kept = Toolset([*tools(PROPERTIES), {"name": "now"}])
    assert kept.coercers["f"] is kept.coercers["f"]
    assert kept.coercers["f"].coerce({"days": "3"}).arguments == {"days": 3}
    assert [problem.path for problem in kept.coercers["now"].coerce({"x": 1}).problems] == ["$.x"]


def test_what_an_extractor_refuses_is_refused_though_its_like_is_kept():
    kept = Toolset(tools(PROPERTIES))
    kept.extractor(lenient=True)
    with pytest.raises(TypeError, match="lenient"):
        kept.extractor(lenient=1)
