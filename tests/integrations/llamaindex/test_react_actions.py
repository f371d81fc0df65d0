"""Actions in LlamaIndex's form: their input is an object as the model wrote it, or the model is asked again."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ResponseReasoningStep
from llama_index.core.agent.workflow import ReActAgent, ToolCallResult

from integrations.llamaindex.endpoint import endpoint
from llama_index_llama3_tools import Llama3ReActChatFormatter, Llama3ReActOutputParser, MalformedToolCallError
from steps import steps_of

# LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
pytestmark = pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")

HEAD = "Thought: x\nAction: rm\nAction Input: "
removed: list[Any] = []


def now() -> str:
    """Return the time."""
    return "noon"


def rm(path: str, *, force: bool = False) -> str:
    """Remove a file."""
    removed.append((path, force))
    return "removed"


TOOLS = [now, rm]


def read(written: str, **options: Any) -> Any:  # noqa: ANN401 (a step)
    step: Any = Llama3ReActOutputParser(TOOLS, coerce_arguments=False, **options).parse(HEAD + written)
    assert (step.thought, step.action) == ("x", "rm")
    return step


@pytest.mark.parametrize("after", ["", "\nObservation: {'a': [\nThought: I know.\nAnswer: }", ", {", ")", "```", "'}"])
@pytest.mark.parametrize("before", ["", "\n```json\n", "the path is "])
@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("{}", {}),
        ('{"path": "a\\n}\'{", "of": [{"b": true}]}', {"path": "a\n}'{", "of": [{"b": True}]}),
        ("{'path': 'it\\'s }', \"of\": [{'b': True}, None],}", {"path": "it's }", "of": [{"b": True}, None]}),
        (f'{{"n": -1{"0" * 5000}}}', {"n": -(10**5000)}),
        ('{"path": "a\nb"}', {"path": "a\nb"}),
    ],
    ids=["empty", "json", "python", "a long integer", "a line break in a string"],
)
def test_an_object_is_read_as_it_stands(written: str, arguments: object, before: str, after: str) -> None:
    step = read(before + written + after)
    assert step.action_input == arguments
    assert step.repaired_from in {None, written}


def test_a_step_tells_what_it_was_repaired_from() -> None:
    assert read("{'path': '/'}").repaired_from == "{'path': '/'}"
    assert read('{"path": "/"}').repaired_from is None


@pytest.mark.parametrize(
    ("written", "reason", "detail"),
    [
        ('{"path": "/home/me", "x": {"path": "/"}, oops}', "malformed", "expected a key at offset 77, found 'o'"),
        ("{path: /}", "malformed", "expected a key or '}' at offset 37, found 'p'"),
        ('{"path": "a" + "b"}', "malformed", "expected ',' or the closing bracket at offset 49, found '+'"),
        ('{"n": 1e999}', "malformed", "a number or a constant that JSON does not have"),
        ('{"n": NaN}', "malformed", "expected a value at offset 42, found 'N'"),
        ("{'path': '/', 'path': '/home'}", "malformed", "keys and strings have to stand in double quotes"),
        ("{'path': open('/')}", "malformed", "keys and strings have to stand in double quotes"),
        ('{"path": "/', "truncated", "the rest of a string was due"),
    ],
)
def test_of_anything_else_nothing_is_made_up(written: str, reason: str, detail: str) -> None:
    with pytest.raises(MalformedToolCallError, match=rf"^1 tool call could not be read: rm \({reason}\): ") as raised:
        read(written)
    [refused] = raised.value.errors
    assert detail in refused.detail
    assert (refused.name, refused.text, raised.value.output) == (
        "rm",
        f"Action: rm\nAction Input: {written}",
        HEAD + written,
    )


@pytest.mark.parametrize(
    "written",
    [
        '[{"path": "/"}]',
        'no.\nObservation: {"path": "/"}',
        '\nAction: now\nAction Input: {"path": "/"}',
        "none",
    ],
)
def test_nor_of_what_stands_elsewhere(written: str) -> None:
    with pytest.raises(ValueError, match="write a JSON object after"):
        read(written)


def test_nor_of_an_action_without_an_input_and_the_input_of_the_next() -> None:
    text = 'Thought: x\nAction: rm or so\nAction: now\nAction Input: {"path": "/"}'
    assert ReActOutputParser().parse(text).model_dump()["action_input"] == {"path": "/"}
    with pytest.raises(ValueError, match="Could not extract tool use"):
        Llama3ReActOutputParser(TOOLS).parse(text)


def test_offsets_are_those_of_the_output_also_after_reasoning() -> None:
    output = f"<think>Hm.</think>{HEAD}{{path: /}}"
    with pytest.raises(MalformedToolCallError, match="at offset 55, found 'p'"):
        Llama3ReActOutputParser(TOOLS).parse(output)
    assert output[55] == "p"


@pytest.mark.parametrize("written", ['{"path": "/"}', "{'path': '/'}"])
def test_another_tool_is_a_call_or_refused_as_in_any_form(written: str) -> None:
    text = f"Thought: x\nAction: rmdir\nAction Input: {written}\nAnswer: Done."
    with pytest.raises(MalformedToolCallError, match=r"rmdir \((unknown_tool|malformed)\): "):
        Llama3ReActOutputParser(TOOLS, on_unknown_tool="text").parse(text)
    for parser in (Llama3ReActOutputParser(TOOLS), Llama3ReActOutputParser()):
        step: Any = parser.parse(text)
        assert (step.action, step.action_input) == ("rmdir", {"path": "/"})


@pytest.mark.parametrize(
    ("output", "thought", "answer"),
    [
        ("Thought: I know.\nAnswer: Noon.", "I know.", "Noon."),
        ("Answer: Noon.", "(Implicit) I can answer without any more tools!", "Noon."),
        ("Noon.", "(Implicit) I can answer without any more tools!", "Noon."),
        ("Thought: So.\nAnswer: Write\n```json\n{}\n```\nthere.", "So.", "Write\n```json\n{}\n```\nthere."),
    ],
)
def test_an_answer_is_as_the_model_wrote_it(output: str, thought: str, answer: str) -> None:
    step = Llama3ReActOutputParser(TOOLS).parse(output, is_streaming=True)
    assert isinstance(step, ResponseReasoningStep)
    assert (step.thought, step.response, step.is_streaming) == (thought, answer, True)


@pytest.mark.parametrize("text", ["Thought: \x1b\u202e", "Action: \x1b\u202e"])
def test_an_error_shows_what_hides_or_commands_a_terminal(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Could not .*: \w+: \\x1b\\u202e$"):
        Llama3ReActOutputParser().parse(text)


def test_an_input_that_is_nested_too_deep_is_refused_and_no_other_one_is_made_of_it() -> None:
    nested = HEAD + f'{{"a": {"[" * 1000}{{"b": "c"}}{"]" * 1000}}}'
    assert ReActOutputParser().parse(nested).model_dump()["action_input"] == {"b": "c"}
    with pytest.raises(MalformedToolCallError, match=r"rm \(too_deep\)"):
        Llama3ReActOutputParser().parse(nested)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    ['{"a": ', "{'a': ", "'", '"', "\\'", "()", "{}", '"a": 1, ', "\n", "\nAction: f\nAction Input: ", "Answer:"],
)
@pytest.mark.parametrize("head", ["", "{", "{'", '{"'])
def test_the_work_grows_as_the_output_does(piece: str, head: str) -> None:
    def work(times: int) -> int:
        def parse() -> None:
            with contextlib.suppress(ValueError):
                Llama3ReActOutputParser(TOOLS).parse(HEAD + head + piece * times + "x}")

        return steps_of(parse)

    work(3)
    assert work(800) < 5 * work(200) + 500


async def test_an_agent_asks_the_model_again() -> None:
    removed.clear()
    answers = [HEAD + '{"path": "/", oops}', HEAD + "{'path': 'tmp/x', 'force': True}", "Thought: So.\nAnswer: Done."]
    with endpoint(*answers) as served:
        pair: Any = {"output_parser": Llama3ReActOutputParser(TOOLS), "formatter": Llama3ReActChatFormatter()}
        handler = ReActAgent(tools=TOOLS, llm=served.llm(), **pair).run("Tidy up.")
        events = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
        assert str(await handler) == "Done."
    assert removed == [("tmp/x", True)]
    assert [event.tool_kwargs for event in events] == [{"path": "tmp/x", "force": True}]
    assert "rm (malformed): expected a key" in served.messages(1)[-1][1]
