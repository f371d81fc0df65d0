"""Calls that do not run, sent back to the model, which writes them again: in each way to ask, and in agents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent

from endpoints.wire import answer_events
from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.scripted import ScriptedLLM
from integrations.llamaindex.test_servers import native, native_stream, piece
from integrations.llamaindex.trips import (
    COMPLAINT,
    FITTING,
    SOON,
    SOON_MESSAGE,
    WRITTEN,
    Planner,
    asked,
    kwargs,
    llm_of,
    native_or_not,
    served_native,
    told,
    ways,
    write,
)
from llama3_tools import Limits
from llama_index_llama3_tools import Llama3ToolLLM


@ways
@native_or_not
async def test_a_call_that_does_not_fit_is_sent_back_and_not_shown(way: str, is_native: bool) -> None:
    streaming = "streamed" in way
    answers = [SOON, WRITTEN]
    served_answers = [served_native(a, streaming=streaming) if is_native else f"Hm. {write(a)}" for a in answers]
    with endpoint(*served_answers) as served:
        responses = await asked(llm_of(served, is_native=is_native), way, Planner().tool)
    shown = [arguments for response in responses for arguments in kwargs(response.message)]
    assert shown
    assert all(arguments == FITTING for arguments in shown)
    [*_, wrote, complaint] = served.messages(1)
    assert wrote == ("assistant", write(SOON) if is_native else f"Hm. {write(SOON)}")
    assert complaint[0] == "user"
    assert complaint[1].startswith(COMPLAINT)
    last = responses[-1].message
    assert last.additional_kwargs["refused_tool_calls"] == []
    if streaming and not is_native:
        assert "".join(response.delta or "" for response in responses) == last.content == "Hm.\n\nHm."
    elif not streaming:
        assert last.content == (None if is_native else "Hm.")


@ways
@native_or_not
async def test_after_the_last_try_it_is_a_call_as_it_is(way: str, is_native: bool) -> None:
    streaming = "streamed" in way
    answers = [served_native(SOON, streaming=streaming) if is_native else write(SOON) for _ in range(3)]
    with endpoint(*answers) as served:
        *_, last = await asked(llm_of(served, is_native=is_native, max_retries=2), way, Planner().tool)
    assert len(served.bodies) == 3
    assert kwargs(last.message) == [SOON]
    assert told(last.message)[0]["problems"][0]["message"] == SOON_MESSAGE


@ways
async def test_of_a_refused_call_the_message_says_what_is_wrong(way: str) -> None:
    broken = write(FITTING)[:-3]
    with endpoint(broken, broken) as served:
        *_, last = await asked(llm_of(served), way, Planner().tool)
    assert len(served.bodies) == 2
    [refused] = last.message.additional_kwargs["refused_tool_calls"]
    assert (refused["name"], refused["reason"], refused["text"]) == ("plan", "truncated", broken)
    assert json.dumps(refused)


@ways
async def test_an_answer_stands_if_the_next_one_says_nothing(way: str) -> None:
    first, streaming = f"Hm. {write(FITTING)[:-4]}", "streamed" in way
    for second in ("", "\n", *([answer_events(["[DONE]"])] if streaming else [native()])):
        with endpoint(first, second) as served:
            *_, last = await asked(llm_of(served), way, Planner().tool)
        assert len(served.bodies) == 2
        assert (last.message.content or "").strip() == first
        assert kwargs(last.message) == []


@ways
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [('{"days": [[1]]}', "arguments nested deeper than 2 levels"), ('{"days": 1', "its arguments are no JSON object")],
)
async def test_of_a_call_of_the_server_that_cannot_be_run_the_model_is_told_why(
    way: str, arguments: str, reason: str
) -> None:
    streaming = "streamed" in way
    answer = native_stream(piece(0, arguments, "1", "plan")) if streaming else native(("1", "plan", arguments))
    with endpoint(answer, served_native(WRITTEN, streaming=streaming)) as served:
        llm = llm_of(served, is_native=True, limits=Limits(max_depth=2))
        await asked(llm, way, Planner().tool)
    assert served.messages(1)[-1][1].startswith("Error of plan: The call is ")
    assert reason in served.messages(1)[-1][1]


def test_a_call_that_fits_comes_at_once() -> None:
    llm = Llama3ToolLLM(ScriptedLLM(chunks=["Hm. ", write(WRITTEN), " So."]))
    counts = [len(kwargs(one.message)) for one in llm.stream_chat_with_tools([Planner().tool], "Plan!")]
    assert counts[1] == 1


@ways
async def test_an_answer_is_not_asked_for_again_and_a_missing_call_is(way: str) -> None:
    with endpoint("Hello.", "Hello.", f"Hm. {write(WRITTEN)}") as served:
        llm: Any = llm_of(served)
        await asked(llm, way, Planner().tool)
        assert len(served.bodies) == 1
        *_, last = await asked(llm, way, Planner().tool, tool_required=True)
    assert kwargs(last.message) == [FITTING]
    assert served.messages(2)[-1][1].startswith("Your last reply holds no function call.")


async def test_an_agent_runs_the_call_that_fits_and_no_other() -> None:
    planner = Planner()
    with endpoint(write(SOON), write(WRITTEN), "Done.") as served:
        agent = FunctionAgent(tools=[planner.tool], llm=llm_of(served))
        assert str(await agent.run("Plan!")) == "Done."
    assert planner.given == [FITTING]
    assert "do not fit" not in json.dumps(served.bodies[2]), "it is no part of the conversation"
