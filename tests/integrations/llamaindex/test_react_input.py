"""The input of an action in LlamaIndex's form: an object as the model wrote it, or the model is asked again."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.workflow import ReActAgent, ToolCallResult

from integrations.llamaindex.endpoint import endpoint
from llama_index_llama3_tools import Llama3ReActChatFormatter, Llama3ReActOutputParser, MalformedToolCallError
from steps import steps_of

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


def read(written: str, **options: Any) -> Any:  # noqa: ANN401 (a step's input)
    step: Any = Llama3ReActOutputParser(TOOLS, coerce_arguments=False, **options).parse(HEAD + written)
    assert (step.thought, step.action) == ("x", "rm")
    return step.action_input


@pytest.mark.parametrize("behind", ["", "\nObservation: {'a': [\nThought: I know.\nAnswer: }", ", {", ")", "```", "'}"])
@pytest.mark.parametrize("before", ["", "\n```json\n", "the path is "])
@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("{}", {}),
        ('{"path": "a\\n}\'{", "of": [{"b": true}]}', {"path": "a\n}'{", "of": [{"b": True}]}),
        (
            "{'path': 'it\\'s }', \"of\": [{'b': True}, (1, None),],}",
            {"path": "it's }", "of": [{"b": True}, [1, None]]},
        ),
        ("{'path': '''a\n'b'}''', 'n': 0x10}", {"path": "a\n'b'}", "n": 16}),
        (f'{{"n": -1{"0" * 5000}}}', {"n": -(10**5000)}),
        (f"{{'n': 1{'0' * 5000}}}", {"n": 10**5000}),
    ],
    ids=["empty", "json", "python", "python's own", "a long integer", "a long integer of python's"],
)
def test_an_object_is_read_as_it_stands(written: str, arguments: object, before: str, behind: str) -> None:
    assert read(before + written + behind) == arguments


BROKEN = [
    ('{"path": "/home/me", "x": {"path": "/"}, oops}', "malformed", "expected a key at offset 77, found 'o'"),
    ('{"path": "/", "force": fal}', "malformed", "expected the rest of true, false or null at offset 62"),
    ("{path: /}", "malformed", "expected a key or '}' at offset 37, found 'p'"),
    ('{"path": "a" + "b"}', "malformed", "expected ',' or the closing bracket at offset 49, found '+'"),
    ('{"n": 1e999}', "malformed", "a number too large for a float, before offset 47"),
    ('{"n": NaN}', "malformed", "expected a value at offset 42, found 'N'"),
    ('{"path": "a\nb"}', "malformed", "the character '\\n' in a string, at offset 47"),
    ("{'path': '/', 'path': '/home'}", "malformed", "expected a key or '}' at offset 37"),
    ("{'path', '/'}", "malformed", "expected a key or '}' at offset 37"),
    ("{'path': open('/')}", "malformed", "expected a key or '}' at offset 37"),
    ('{"path": "/', "truncated", "the rest of a string was due"),
    ("{'path': '/", "malformed", "expected a key or '}' at offset 37"),
    ("{'path': (1", "malformed", "expected a key or '}' at offset 37"),
    ('[{"path": "/"}]', "malformed", "found '\\[' before it, at offset 36"),
    ('no.\nObservation: {"path": "/"}', "malformed", "found 'Observation:' before it, at offset 40"),
    ('\nAction: now\nAction Input: {"path": "/"}', "malformed", "found 'Action:' before it, at offset 37"),
]


@pytest.mark.parametrize(("written", "reason", "detail"), BROKEN)
def test_of_anything_else_nothing_is_made_up(written: str, reason: str, detail: str) -> None:
    with pytest.raises(MalformedToolCallError, match=rf"^1 tool call could not be read: rm \({reason}\): ") as raised:
        read(written)
    [failed] = raised.value.errors
    assert detail.replace("\\[", "[") in failed.detail
    assert (failed.name, failed.reason.value, raised.value.output) == ("rm", reason, HEAD + written)
    assert failed.text
    assert failed.text in raised.value.output


def test_nor_of_an_action_without_an_input_and_the_input_of_the_next() -> None:
    text = 'Thought: x\nAction: rm or so\nAction: now\nAction Input: {"path": "/"}'
    assert ReActOutputParser().parse(text).model_dump()["action_input"] == {"path": "/"}
    with pytest.raises(MalformedToolCallError, match=r"rm \(malformed\): .* found 'Action:' before it, at offset 28"):
        Llama3ReActOutputParser(TOOLS).parse(text)


def test_offsets_are_those_of_the_output_also_behind_reasoning() -> None:
    output = f"<think>Hm.</think>{HEAD}{{}}".replace("{}", "{path: /}")
    with pytest.raises(MalformedToolCallError, match="at offset 55, found 'p'"):
        Llama3ReActOutputParser(TOOLS).parse(output)
    assert output[55] == "p"


@pytest.mark.parametrize(
    ("written", "arguments"),
    [('{path: "/", force: true} so.', {"path": "/", "force": True}), ('{"path": "a\nb"}', {"path": "a\nb"})],
)
def test_what_is_beyond_doubt_is_repaired_where_that_is_asked_for(written: str, arguments: object) -> None:
    step: Any = Llama3ReActOutputParser(TOOLS, repair=True).parse(HEAD + written)
    assert step.action_input == arguments
    assert step.repaired_from == written.removesuffix(" so.")
    doubtful = [HEAD + broken for broken, *_ in BROKEN if "\n" not in broken or "no." in broken]
    for other in (HEAD.replace("rm", "cat") + written, *doubtful):
        with pytest.raises(MalformedToolCallError):
            Llama3ReActOutputParser(TOOLS, repair=True).parse(other)


@pytest.mark.parametrize("written", ['{"path": "/"}', "{path: /}"])
def test_another_tool_is_a_call_or_text_as_in_any_form(written: str) -> None:
    text = f"Thought: x\nAction: rmdir\nAction Input: {written}\nAnswer: Done."
    with pytest.raises(MalformedToolCallError, match=r"rmdir \(unknown_tool\): .* declared: now, rm$"):
        Llama3ReActOutputParser(TOOLS, on_unknown_tool="text").parse(text)
    step: Any = Llama3ReActOutputParser(TOOLS).parse(text.replace("{path: /}", "{}"))
    assert step.action == "rmdir"
    assert read('{"path": "/"}', on_unknown_tool="text") == {"path": "/"}


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece", ['{"a": ', "{'a': ", "'", '"', "'''", "\\'", "()", "{}", '"a": 1, ', "'a': 1, ", "\n"]
)
@pytest.mark.parametrize("head", ["", "{", "{'", '{"'])
def test_the_work_grows_as_the_input_does(piece: str, head: str) -> None:
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
        pair = {"output_parser": Llama3ReActOutputParser(TOOLS), "formatter": Llama3ReActChatFormatter()}
        handler = ReActAgent(tools=TOOLS, llm=served.llm(), **pair).run("Tidy up.")
        events = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
        assert str(await handler) == "Done."
    assert removed == [("tmp/x", True)]
    assert [event.tool_kwargs for event in events] == [{"path": "tmp/x", "force": True}]
    assert "rm (malformed): expected a key" in served.messages(1)[-1][1]
