"""Which step counts where a model writes several, in LlamaIndex's form and in Llama 3's: the first one."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.agent.react.types import ResponseReasoningStep

from llama_index_llama3_tools import Llama3ReActOutputParser

TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {argument: {"type": "string"}}}}
    for name, argument in (("get_page", "url"), ("delete", "path"))
]
CALL = '{"name": "delete", "parameters": {"path": "/"}}'
DELETE = 'Action: delete\nAction Input: {"path": "/"}'
PAGE = 'Action: get_page\nAction Input: {"url": "x"}'

BEHIND = {
    "a call as the input": f"Action: delete\nAction Input: {CALL}",
    "a call as the input, in a list": f"Action: delete\nAction Input: [{CALL}]",
    "a call as the input, on the next line": f"Action: delete\nAction Input:\n```json\n{CALL}\n```",
    "a call": CALL,
    "a tagged call": f"<|python_tag|>{CALL}",
    "a call as the action": f"Action: {CALL}",
    "an action": DELETE,
    "the input of a call alone": f"Action Input: {CALL}",
}


@pytest.fixture(
    params=[{}, {"tools": TOOLS, "on_unknown_tool": "text", "formats": ["json"]}], ids=["any tool", "declared tools"]
)
def parser(request: pytest.FixtureRequest) -> Llama3ReActOutputParser:
    return Llama3ReActOutputParser(**request.param)


def parsed(parser: Llama3ReActOutputParser, output: str) -> Any:  # noqa: ANN401 (a step's own values)
    step: Any = parser.parse(output)
    return step.response if isinstance(step, ResponseReasoningStep) else (step.action, step.action_input)


@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
@pytest.mark.parametrize(
    "between", ["Observation: The page says:\n", "Observation: none\nThought: next\n", "I will:\n", ""]
)
class TestBehindAnAction:
    @pytest.mark.parametrize("before", ["Thought: I look.\n", "Sure!\n\nThought: I look.\n", ""])
    def test_the_first_one_is_the_step(
        self, parser: Llama3ReActOutputParser, before: str, between: str, behind: str
    ) -> None:
        assert parsed(parser, f"{before}{PAGE}\n{between}{behind}") == ("get_page", {"url": "x"})

    @pytest.mark.parametrize(
        ("first", "arguments"),
        [
            ("Action Input: {}", {}),
            ('Action Input:{"url": "x"}', {"url": "x"}),
            (' Action Input: {"url": "x"}', {"url": "x"}),
            ("Action Input: {'url': None}", {"url": None}),
            ('Action Input: {"url": "Action: delete\\nObservation: {"}', {"url": "Action: delete\nObservation: {"}),
            ('Action Input: ```json\n{"url": "x"}\n```', {"url": "x"}),
            (
                'Action Input: {"url": {"name": "delete", "parameters": {}}}',
                {"url": {"name": "delete", "parameters": {}}},
            ),
            (f"Action Input: {CALL}", {"name": "delete", "parameters": {"path": "/"}}),
        ],
        ids=[
            "empty",
            "no space",
            "indented",
            "python",
            "words of actions in it",
            "fenced",
            "a call within it",
            "another tool's call",
        ],
    )
    def test_whatever_its_input(
        self, parser: Llama3ReActOutputParser, first: str, arguments: object, between: str, behind: str
    ) -> None:
        assert parsed(parser, f"Thought: So.\nAction: get_page\n{first}\n{between}{behind}") == ("get_page", arguments)

    def test_a_thought_may_name_another(self, parser: Llama3ReActOutputParser, between: str, behind: str) -> None:
        before = "Thought: The page says Action: delete\n"
        assert parsed(parser, f"{before}{PAGE}\n{between}{behind}") == ("get_page", {"url": "x"})

    @pytest.mark.parametrize(
        "first",
        [
            "Action: get_page\nAction Input: {url: x}",
            'Action: get_page\nAction Input: ["x"]',
            'Action:\nAction Input: {"url": "x"}',
            'I take Action: get_page\nAction Input: {"url": "x"}',
            'Action Input: {"url": "x"}',
        ],
    )
    def test_a_malformed_one_is_written_again(
        self, parser: Llama3ReActOutputParser, first: str, between: str, behind: str
    ) -> None:
        with pytest.raises(ValueError, match=r"Could not extract tool use|Could not parse|could not be read"):
            parser.parse(f"Thought: So.\n{first}\n{between}{behind}")


@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
@pytest.mark.parametrize(
    "first", ["Action: get_page", "Action: get_page\nAction Input: none", " Action: I look at it."]
)
def test_nothing_is_called_behind_an_observation_that_the_model_made_up(
    parser: Llama3ReActOutputParser, first: str, behind: str
) -> None:
    with pytest.raises(ValueError, match=r"Could not extract tool use|could not be read"):
        parser.parse(f"Thought: So.\n{first}\n Observation: The page says:\n{behind}")


@pytest.mark.parametrize("step", [CALL, DELETE, f"Action: delete\nAction Input: {CALL}"])
def test_the_last_observation_may_be_repeated_at_the_beginning(parser: Llama3ReActOutputParser, step: str) -> None:
    assert parsed(parser, f"Observation: none\nThought: So.\n{step}") == ("delete", {"path": "/"})


@pytest.mark.parametrize("step", [CALL, f"Thought: So.\n{DELETE}", f"Action: delete\nAction Input: {CALL}"])
@pytest.mark.parametrize(
    "first", ['{"name": "get_page", "parameters": {x}}', "I took Action: get_page", "Thought: So."]
)
def test_nor_is_it_if_the_first_step_is_none(parser: Llama3ReActOutputParser, first: str, step: str) -> None:
    with pytest.raises(ValueError, match=r"Could not|could not be read"):
        parser.parse(f"{first}\nObservation: The page says:\n{step}")


def test_what_stands_between_an_action_and_a_call_of_the_same_tool_counts(parser: Llama3ReActOutputParser) -> None:
    first = 'Thought: So.\nAction: delete\nAction Input: {"path": "tmp"}'
    for between in ("", "\nAction: delete\nAction Input:", "\nI mean"):
        assert parsed(parser, f"{first}{between}\n{CALL}") == ("delete", {"path": "tmp"})
    for other in (
        "Action: get_page\nAction: delete\nAction Input:",
        "Action: delete\nAction Input: none\nThought: So.",
    ):
        with pytest.raises(ValueError, match="write a JSON object after"):
            parser.parse(f"Thought: So.\n{other} {CALL}")


@pytest.mark.parametrize(
    "before", ["", "Thought: So.\n", "Sure!\nThought: So.\n", "Thought: The page says `Action: x`.\n"]
)
@pytest.mark.parametrize(
    "step",
    [
        *(written for name, written in BEHIND.items() if name != "the input of a call alone"),
        f"Action:delete\nAction Input: {CALL}",
        f" Action: delete \n Action Input: {CALL}",
        f"Action: delete(path)\n\nAction Input: is {CALL}",
        f"Action: I delete it.\n{CALL}",
        f"Action: delete\n{CALL}",
        f"Action: delete\nThe Observation: comes then.\n{CALL}",
        f"The Action Input: is a path.\n{CALL}",
        f"The Action: line says get_page.\nAction: delete\nAction Input: {CALL}",
        f"{CALL}\nObservation: none\n{PAGE}",
        f"Action: delete\nAction Input: {CALL}\nObservation: none\nThought: next\n{PAGE}",
    ],
)
def test_the_whole_call_may_be_the_input_of_its_own_action(
    parser: Llama3ReActOutputParser, before: str, step: str
) -> None:
    assert parsed(parser, before + step) == ("delete", {"path": "/"})


def test_an_action_behind_an_answer_is_none(parser: Llama3ReActOutputParser) -> None:
    for written in (DELETE, f"Action: delete\nAction Input: {CALL}", CALL):
        assert parsed(parser, f"Thought: So.\nAnswer: It says:\n{written}") == f"It says:\n{written}"
        answer = f"Thought: No Action: is needed.\nAnswer: It says:\n{written}"
        assert parsed(parser, answer) == f"It says:\n{written}"
