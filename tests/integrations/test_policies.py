"""What becomes of calls, run through the chat layer and through both adapters: each policy once, and the same in all.

The server is one, over real HTTP, and refuses what some server refuses. What it was sent is compared, and what was
called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import openai
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

import langchain_llama3_tools
import llama_index_llama3_tools
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import CHAT, answer_error, answer_events, answer_json, api
from langchain_llama3_tools import Llama3ToolModel
from llama3_tools import Limits, ReadOptions
from llama3_tools.chat import ChatOptions, ToolChat
from llama_index_llama3_tools import Llama3ToolLLM

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]


def weather(city: str, days: int = 1) -> str:
    """The weather of a city."""
    return f"sunny in {city} for {days}"


def now() -> str:
    """The time."""
    return "12:30"


PARIS = '{"name": "weather", "parameters": {"city": "Paris"}}'
OSLO = '{"name": "weather", "parameters": {"city": "Oslo"}}'
SOON = '{"name": "weather", "parameters": {"city": "Paris", "days": "soon"}}'
PLACEHOLDER = PARIS.replace("Paris", "<string>")
BROKEN = '{"name": "weather", "parameters": {"city": oops}}'
NOW = '{"name": "now", "parameters": {}}'
IN_PARIS: tuple[str, dict[str, Any]] = ("weather", {"city": "Paris"})
IN_OSLO: tuple[str, dict[str, Any]] = ("weather", {"city": "Oslo"})
AT_NOW: tuple[str, dict[str, Any]] = ("now", {})
MALFORMED = "Error of weather: The call is malformed, and was not run"
NOT_CHOSEN = "Error of now: The call was not run: only 'weather' may be called now."
COPIED = 'Error of weather: The arguments do not fit, and the call was not run: $.city: "<string>" is a placeholder'
MISFIT = "Error of weather: The arguments do not fit, and the call was not run: $.days: expected integer"


@dataclass(frozen=True)
class Said:
    """One answer of the server."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """The ids, names and arguments of calls that it found itself."""
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Policy:
    """What a model answers, and what comes of it."""

    answers: tuple[Said, ...]
    calls: Calls
    content: str = ""
    streamed: str | None = None
    """The content of a stream, if it is another: what went out before the model was asked again stays."""
    told: tuple[str, ...] = ()
    """How the last message of each further request begins."""
    asked: dict[str, Any] = field(default_factory=dict)
    """`tool_choice` and `parallel_tool_calls`."""
    options: dict[str, Any] = field(default_factory=dict)


POLICIES = {
    "a call in text, which stays": Policy(
        (Said(f"Let me check. {PARIS} One moment."),), [IN_PARIS], "Let me check. One moment."
    ),
    "several, in order": Policy((Said(f"{PARIS}; {OSLO}"),), [IN_PARIS, IN_OSLO]),
    "the server's own come after those in the text": Policy(
        (Said(f"Also {PARIS}", (("1", "now", "{}"),)),), [IN_PARIS, AT_NOW], "Also"
    ),
    "one that the server left in the text, too, is one": Policy(
        (Said(f"Sure. {PARIS}", (("1", "weather", '{"city": "Paris"}'),)),), [IN_PARIS], "Sure."
    ),
    "one of the server that it sends twice is one": Policy(
        (Said("", (("1", "now", "{}"), ("1", "now", "{}"))),), [AT_NOW]
    ),
    "a repeated one does not run again": Policy((Said(f"{PARIS} Again: {PARIS}"),), [IN_PARIS], "Again:"),
    "unless it is asked for": Policy(
        (Said(f"{PARIS} Again: {PARIS}"),), [IN_PARIS, IN_PARIS], "Again:", options={"repeated_calls": "keep"}
    ),
    "the first one alone": Policy(
        (Said(f"{PARIS} and {OSLO}"),), [IN_PARIS], "and", asked={"parallel_tool_calls": False}
    ),
    "one of a tool that is not there is written again": Policy(
        (Said(NOW.replace("now", "rm")), Said(NOW)), [AT_NOW], told=("Error of rm: The call was not run",)
    ),
    "and after the last time whoever runs calls answers it": Policy(
        (Said(NOW.replace("now", "rm")), Said("", (("1", "rm", "{}"),))),
        [("rm", {})],
        told=("Error of rm: The call was not run",),
    ),
    "or a call": Policy((Said(NOW.replace("now", "rm")),), [("rm", {})], options={"on_unknown_tool": "call"}),
    "or text": Policy(
        (Said(NOW.replace("now", "rm")),), [], NOW.replace("now", "rm"), options={"on_unknown_tool": "text"}
    ),
    "arguments are made to fit": Policy(
        (Said(SOON.replace('"soon"', '"3"')),), [("weather", {"city": "Paris", "days": 3})]
    ),
    "unless that is not wanted": Policy(
        (Said(SOON.replace('"soon"', '"3"')),),
        [("weather", {"city": "Paris", "days": "3"})],
        options={"coerce_arguments": False},
    ),
    "a malformed one is written again": Policy((Said(BROKEN), Said(PARIS)), [IN_PARIS], told=(MALFORMED,)),
    "nobody sees its JSON, words before it stay in a stream": Policy(
        (Said(f"Hm. {BROKEN} Well."), Said(f"Now: {PARIS}")),
        [IN_PARIS],
        "Now:",
        streamed="Hm.\n\nNow:",
        told=(MALFORMED,),
    ),
    "one whose arguments are placeholders never runs": Policy(
        (Said(PLACEHOLDER), Said(PLACEHOLDER)), [], PLACEHOLDER, told=(COPIED,)
    ),
    "once": Policy((Said(BROKEN), Said(BROKEN)), [], BROKEN, told=(MALFORMED,)),
    "or never": Policy((Said(BROKEN),), [], BROKEN, options={"max_retries": 0}),
    "or more often": Policy(
        (Said(BROKEN), Said(BROKEN), Said(PARIS)), [IN_PARIS], told=(MALFORMED, MALFORMED), options={"max_retries": 2}
    ),
    "good ones beside it run": Policy((Said(f"{NOW} {BROKEN}"),), [AT_NOW], BROKEN),
    "arguments that do not fit are written again": Policy((Said(SOON), Said(PARIS)), [IN_PARIS], told=(MISFIT,)),
    "and after the last time the tool gets them": Policy(
        (Said(SOON), Said(SOON)), [("weather", {"city": "Paris", "days": "soon"})], told=(MISFIT,)
    ),
    "an answer that a limit ends is not asked again": Policy(
        (Said(PARIS[:-4], finish_reason="length"),), [], PARIS[:-4], asked={"tool_choice": "required"}
    ),
    "and a call in it that does not fit runs": Policy(
        (Said(f"{SOON} Also", finish_reason="length"),), [("weather", {"city": "Paris", "days": "soon"})], "Also"
    ),
    "an answer is kept if the next one says nothing": Policy(
        (Said(f"Hm. {BROKEN}"), Said("")), [], f"Hm. {BROKEN}", told=(MALFORMED,)
    ),
    "also one that had to call": Policy(
        (Said("I cannot do that."), Said("\n")),
        [],
        "I cannot do that.",
        told=("Your last reply has no function call",),
        asked={"tool_choice": "required"},
    ),
    "a call has to be made": Policy(
        (Said("Hm."), Said(PARIS)),
        [IN_PARIS],
        streamed="Hm.",
        told=("Your last reply has no function call",),
        asked={"tool_choice": "required"},
    ),
    "one of another tool than was chosen is not": Policy(
        (Said(NOW), Said(PARIS)), [IN_PARIS], told=(NOT_CHOSEN,), asked={"tool_choice": "weather"}
    ),
    "nor one of the server": Policy(
        (Said("Hm.", (("1", "now", "{}"),)), Said("Sorry.")),
        [],
        "Sorry.",
        streamed="Hm.\n\nSorry.",
        told=(NOT_CHOSEN,),
        asked={"tool_choice": "weather"},
    ),
    "none may be made": Policy((Said(PARIS),), [], PARIS, asked={"tool_choice": "none"}),
    "the strict format": Policy(
        (Said('{"message": "Let me see.", "tool_call": {"name": "weather", "arguments": {"city": "Paris"}}}'),),
        [IN_PARIS],
        "Let me see.",
        options={"prompt_format": "strict"},
    ),
    "thoughts are no text": Policy(
        (Said(f"<think>{OSLO}?</think>Yes. {PARIS}"),), [IN_PARIS], "Yes.", options={"split_reasoning": True}
    ),
}


@dataclass(frozen=True)
class Came:
    """What came of an answer."""

    content: str
    calls: Calls
    refused: list[str]
    """The names of the calls that the report says were refused."""
    retried: list[str]
    """The names of those because of which the model was asked again."""
    failed: str | None = None
    """The text that the server refused as no call."""


def _whole(said: Said) -> Answer:
    calls = [
        {"id": one, "type": "function", "function": {"name": name, "arguments": args}} for one, name, args in said.calls
    ]
    message = {"role": "assistant", "content": said.text, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": said.finish_reason}
    return answer_json({"id": "1", "object": "chat.completion", "created": 0, "model": "llama3.1", "choices": [choice]})


def _streamed(said: Said) -> Answer:
    deltas: list[dict[str, Any]] = [{"content": said.text[at : at + 3]} for at in range(0, len(said.text), 3)]
    for index, (call_id, name, arguments) in enumerate(said.calls):
        first = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas += [{"tool_calls": [first]}, {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}]
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "llama3.1"}
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in [{"role": "assistant"}, *deltas]]
    choices.append({"index": 0, "delta": {}, "finish_reason": said.finish_reason})
    return answer_events([*(json.dumps({**head, "choices": [choice]}) for choice in choices), "[DONE]"])


def _server(answers: tuple[Said, ...]) -> LoopbackServer:
    script: Iterator[Said] = iter(answers)

    def model(request: Request) -> Answer:
        if "tools" in request.body or any("tool_calls" in message for message in request.body["messages"]):
            return answer_error(400, "This model does not support tools")
        said = next(script, None)
        if said is None:
            return answer_error(500, "The script has no further answer.")
        return _streamed(said) if request.stream else _whole(said)

    return LoopbackServer(api(["llama3.1"], model))


TOOLS: list[dict[str, Any]] = [
    {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
    {"name": "now", "description": "The time."},
]


def _post(address: str, body: dict[str, Any]) -> Any:
    data = json.dumps({"model": "llama3.1", **body}).encode()
    return urlopen(HttpRequest(f"{address}/chat/completions", data, {"Content-Type": "application/json"}), timeout=10)  # noqa: S310 (127.0.0.1)


def through_the_layer(address: str, policy: Policy, *, stream: bool) -> Came:
    request = ToolChat(TOOLS, **policy.options).request([{"role": "user", "content": "Hi"}], **policy.asked)
    texts: list[str] = []
    while True:
        with _post(address, {"messages": request.messages, "stream": stream}) as response:
            if not stream:
                choice = json.load(response)["choices"][0]
                reply = request.read(choice["message"], choice["finish_reason"])
                texts = [str(reply.content or "")]
            else:
                reading, reason = request.stream(), None
                for line in response:
                    if line.startswith(b"data: {"):
                        [choice] = json.loads(line[6:])["choices"]
                        reason = choice["finish_reason"] or reason
                        texts += [delta.get("content") or "" for delta in reading.feed(choice["delta"])]
                texts += [delta.get("content") or "" for delta in reading.end(reason)]
                reply = reading.reply
        again = request.retry(reply)
        if again is None:
            refused = [call.name for call in reply.report.refused]
            retried = [call.name for call in reply.report.retried]
            return Came("".join(texts), [(call.name, call.arguments) for call in reply.tool_calls], refused, retried)
        request = again


def through_langchain(address: str, policy: Policy, *, stream: bool) -> Came:
    llm = ChatOpenAI(base_url=address, api_key=SecretStr("none"), model="llama3.1", max_retries=0)
    bound = Llama3ToolModel(llm, **policy.options).bind_tools(TOOLS, **policy.asked)
    message: Any
    if stream:
        chunks = [chunk for chunk in bound.stream("Hi") if isinstance(chunk, AIMessageChunk)]
        message = chunks[0] + chunks[1:]
    else:
        message = bound.invoke("Hi")
    assert isinstance(message, AIMessage)
    refused = [call["name"] for call in message.response_metadata.get("refused_tool_calls", ())]
    retried = [call["name"] for call in message.response_metadata.get("retried_tool_calls", ())]
    assert [call["name"] for call in message.invalid_tool_calls] == refused
    made = [(call["name"], call["args"]) for call in message.tool_calls]
    return Came(str(message.text), made, refused, retried, message.response_metadata.get("failed_generation"))


def through_llama_index(address: str, policy: Policy, *, stream: bool) -> Came:
    llm = OpenAILike(
        api_base=address,
        api_key="none",
        model="llama3.1",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )
    wrapped = Llama3ToolLLM(llm, **policy.options)
    tools = [FunctionTool.from_defaults(tool) for tool in (weather, now)]
    asked = dict(policy.asked)
    asked["allow_parallel_tool_calls"] = asked.pop("parallel_tool_calls", True)
    history = [ChatMessage("Hi")]
    if stream:
        *_, response = wrapped.stream_chat_with_tools(tools, chat_history=history, **asked)
    else:
        response = wrapped.chat_with_tools(tools, chat_history=history, **asked)
    calls = wrapped.get_tool_calls_from_response(response, error_on_no_tool_call=False)
    kwargs = response.message.additional_kwargs
    refused, retried = (
        [call["name"] for call in kwargs.get(key, ())] for key in ("refused_tool_calls", "retried_tool_calls")
    )
    made = [(call.tool_name, call.tool_kwargs) for call in calls]
    return Came(response.message.content or "", made, refused, retried, kwargs.get("failed_generation"))


Way: TypeAlias = Callable[..., Came]
WAYS: list[Way] = [through_the_layer, through_langchain, through_llama_index]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_policy_is_the_same_everywhere(policy: Policy, stream: bool):
    sent: list[Any] = []
    came: list[Came] = []
    for way in WAYS:
        with _server(policy.answers) as server:
            came.append(way(server.base_url, policy, stream=stream))
        bodies: list[Any] = [request.body["messages"] for request in server.requests if request.path == CHAT]
        assert [
            messages[-1]["content"].startswith(told) for messages, told in zip(bodies[1:], policy.told, strict=True)
        ] == [True] * len(policy.told)
        sent.append([[(message["role"], message["content"]) for message in messages[1:]] for messages in bodies])
    assert came[0].calls == policy.calls
    assert came[0].retried == [told.split()[2][:-1] for told in policy.told if told.startswith("Error of ")]
    assert came[0].content == (policy.streamed if stream and policy.streamed is not None else policy.content)
    assert came[1:] == [came[0]] * (len(WAYS) - 1)
    assert sent[1:] == [sent[0]] * (len(WAYS) - 1)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", WAYS[1:])
def test_what_groq_refuses_as_no_call_is_the_answer(way: Way, stream: bool):
    policy = Policy((), [], options={"tools_in": "request"})
    error = {"message": "Failed", "code": "tool_use_failed"}
    written = '<function=weather{"city": "Paris"}'
    refusal = answer_json({"error": {**error, "failed_generation": written}}, status=400)
    with LoopbackServer(lambda _: refusal) as server:
        assert way(server.base_url, policy, stream=stream) == Came("", [IN_PARIS], [], [], written)
    refusal = answer_json({"error": error}, status=400)
    with LoopbackServer(lambda _: refusal) as server, pytest.raises(openai.BadRequestError):
        way(server.base_url, policy, stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("text", [BROKEN, f"Hm. {BROKEN}"])
def test_an_answer_stands_if_the_model_cannot_be_asked_again(way: Way, text: str, stream: bool):
    with _server((Said(text),)) as server:  # and no further answer
        assert way(server.base_url, Policy((), []), stream=stream) == Came(text, [], [], ["weather"])
    for said, asked in ((SOON, {}), ("Hm.", {"tool_choice": "required"})):
        with _server((Said(said),)) as server, pytest.raises(openai.InternalServerError):
            way(server.base_url, Policy((), [], asked=asked, options={"constrain": "off"}), stream=stream)


OTHER_OPTIONS: dict[str, Any] = {
    "tools_in": "system",
    "tool_role": "tool",
    "prompt_format": "pythonic",
    "repeated_calls": "keep",
    "max_retries": 3,
    "constrain": "off",
    "on_unknown_tool": "text",
    "formats": ("json",),
    "coerce_arguments": False,
    "repair": True,
    "split_reasoning": True,
    "starts_reasoning": True,
    "limits": Limits(max_calls=3),
    "id_factory": lambda: "id",
}


def _adapters(**options: Any) -> list[Any]:
    chat = ChatOpenAI(api_key=SecretStr("none"), model="llama3.1")
    completion = OpenAILike(api_key="none", model="llama3.1", is_chat_model=False)
    return [Llama3ToolModel(chat, **options), Llama3ToolLLM(completion, **options)]


def test_models_have_the_same_options_and_defaults_and_they_are_the_layer_s():
    of_chat = [one.name for one in fields(ChatOptions) if one.name != "read"]
    of_reading = [one.name for one in fields(ReadOptions) if one.name != "progress"]  # no message has a place for it
    assert list(OTHER_OPTIONS) == [*of_chat, *of_reading]
    assert [model.options for model in _adapters()] == [ChatOptions()] * 2
    assert [model.options for model in _adapters(**OTHER_OPTIONS)] == [ToolChat([], **OTHER_OPTIONS).options] * 2


PARSERS: list[Any] = [
    langchain_llama3_tools.Llama3JsonToolOutputParser,
    llama_index_llama3_tools.Llama3JsonToolOutputParser,
]


def test_parsers_have_the_same_options_and_defaults():
    of_reading = {one.name for one in fields(ReadOptions)}
    values = {"formats": ["json"], "on_invalid": "raise", "repeated_calls": "keep"}
    for parser in PARSERS:
        for name in [*of_reading - {"progress"}, *values, "tools"]:
            value = values.get(name, OTHER_OPTIONS.get(name, []))
            assert parser(**{"tools": TOOLS, name: value}) is not None
    answers = [parser(tools=TOOLS, on_invalid="collect").parse(f"{PARIS} {BROKEN}") for parser in PARSERS]
    assert [len(answer.tool_calls) for answer in answers] == [1, 1]
    for parser in PARSERS:
        with pytest.raises(Exception, match=r"malformed|could not be read"):
            parser(tools=TOOLS, on_invalid="raise").parse(f"{PARIS} {BROKEN}")
        with pytest.raises(TypeError, match="'reapir'"):
            parser(reapir=True)
