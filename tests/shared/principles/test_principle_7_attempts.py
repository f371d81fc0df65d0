"""Principle 7: a rejection is an attempt if asking again is worth more than the answer that is there."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from told import tool

TOOLS = [
    tool("search", "query", required=("query",)),
    tool("send_mail", "to", "body", required=("to",)),
    tool("delete", "path", required=("path",)),
    tool("clock"),
    tool("get_time", "zone"),
]
WRITTEN = {
    "by name": 'send_mail(to="Al")',
    "by position": "delete('/data')",
    "undeclared": 'book_flight(to="Oslo")',
    "two": "search('x', 3)",
}
"""Calls as sentences name them."""
SENTENCES = {
    "a refusal": "I will not run {}.",
    "a refusal and an offer": "I can't run {} without asking. Shall I?",
    "a refusal for a reason": "Calling {} would lose your data, so I did not.",
    "a report": "I have called {}, and it is done.",
    "a report in the passive": "The request was handled via {}.",
    "a source": "According to {}, it is sunny.",
    "a result": "The result of {} is 12:00.",
    "a result in a second sentence": "It is sunny. I know that from {} and nothing else.",
    "an error": "Sorry, but {} failed with a timeout; try again later.",
    "a condition": "If you want, I could use {} next.",
    "advice": "You can use {} to do that yourself.",
    "an example": "A call looks like {} in Python.",
    "a question": "Do you want me to run {} now?",
    "in parentheses": "That tool (as in {}) is the one to use.",
    "in a code span": "I would use `{}` for that.",
    "in bold": "Use **{}** for that.",
    "in quotation marks": 'You wrote "{}" before.',
    "first in the sentence": "{} returned nothing, so I stopped.",
    "first, with a verb of speech": "{} says that it is late.",
    "an item that is explained": "There are these ways:\n- {}: the quick one\n- by hand: the slow one",
    "an item in a numbered list, explained": "1. {} finds them\n2. you read them",
    "a step of the past": "What I did:\n1. I ran {}.\n2. I read the answer.",
    "a line of a table": "| call | what it does |\n|---|---|\n| {} | the work |",
    "a quoted line": "> {}\n\nThat is what you wrote.",
    "an assignment": "result = {}\nprint(result.text)",
    "a method": "Use client.{} there.",
    "an arrow": "It went so: {} -> ok",
    "a report after a label": "Done: {}",
    "a refusal after a label": "Refused: {}",
    "a question after a label": "Please confirm: {}?",
    "an item of a refusal": "I can't do this:\n\n- {}",
    "items of a question": "Which one?\n1. {}\n2. nothing",
    "an item of a report": "Tools called:\n- {}",
}
OBJECTS = {
    "a call of a declared tool that is broken": '{"name": "search", "parameters": {oops}}',
    "an undeclared call": '{"name": "book_flight", "parameters": {"to": "Oslo"}}',
    "an undeclared call with other keys": '{"name": "lookup", "arguments": {"id": 7}}',
}
OF_OBJECTS = {
    "a correction": "You wrote {} and that is wrong.",
    "a report": "I sent {} to the server.",
    "a report of long ago": "Then the log says {} but nothing came of it.",
    "an explanation": "Here the object {} is what a model writes.",
    "in a code span": "Models write `{}` in such a case.",
}
OTHERS = {
    "a call without arguments": 'No {"name": "clock"} here.',
    "a call without arguments, and a full stop": 'I used {"name": "clock"}.',
    "a record": 'The tool says {"name": "send_mail", "status": "ok"}',
    "a record alone": '{"name": "search", "status": "ok", "hits": 3}',
    "a person": '{"name": "Al", "age": 3}',
    "a tag that is spoken of": "<function=send_mail> was used.",
    "a tag of calls that is spoken of": "I called <tool_call> tags.",
    "a tag in a code span": "The `<tool_call>` tag wraps calls.",
    "a tag at the start of a sentence": "<tool_call> is the tag that models write.",
    "an elided call": "Use send_mail(to=...) to do it.",
    "an elided call on its line": "search(query=...)",
    "a placeholder": "search(query=<query>)",
    "an elided object": 'It is {"name": "search", "parameters": {...}}',
    "an object in a sentence": 'I have used send_mail {"to": "Al"}.',
    "an object in a code span": '`send_mail {"to": "Al"}` was run.',
    "our heading": 'Result of search {"query": "x"}: Rain.',
    "our heading with a call": 'Result of search: {"name": "search", "parameters": {"query": "x"}}\nSo it rains.',
    "our heading of an error": "Error of search: no network",
    "signatures": "The tools are search(query) and send_mail(to, body).",
    "signatures in lines": "search(query)\nsend_mail(to, body)",
    "typed signatures": "search(query: str) finds pages.",
    "a definition": "def search(query: str) -> str:\n    return 1",
    "what tools there are": "- search(query): finds pages\n- clock(): tells the time",
    "what tools there are, by name": "I have search, send_mail, delete and clock.",
    "what tools there are, in a list": "[search, send_mail, delete, clock]",
    "a link": "See [printf()](https://example.org/printf)",
    "a link to a tool": "See [search()](https://example.org/search) for it.",
    "a comprehension": "Use [int(x) for x in s]",
    "a comprehension over a map": "Then [f(x, y=2) for x in xs] is the list.",
    "a vector": "[sin(t), cos(t)] is the vector",
    "a vector alone": "[sin(t), cos(t)]",
    "an equation": "E = [f(x), g(y)] as shown",
    "an interval": "On [a(1), b(2)] it grows.",
    "a function": "Let f(x) = 2x and g(x=1) = 3.",
    "a derivative": "So [d(f)/dx] vanishes at f(x=0).",
    "a citation": "As [Smith(2020)] says",
    "two citations": "It is known [Smith(2020), Jones(2021)].",
    "an ion": "The ion [Fe(CN)6]",
    "a complex": "[Co(NH3)6]Cl3 is orange.",
    "a shell's command": "Run print(1) or echo $(date) there.",
    "code of javascript": "const a = [parse(x), format(y)];\nconsole.log(a);",
    "code in a fence": "So:\n```python\nimport tools\ntools.search('x')\n```\nThat is all.",
    "a test": "assert search('x') == 3",
    "JSON of another kind": '{"search": 3, "clock": "12:00"}',
    "data of hits": 'Sources: search: {"hits": 3} pages.',
    "a name in brackets": "Ask me to search[Paris] if you like.",
    "an index": "The value of search[0] is 7.",
    "a schema": '{"name": "search", "description": "d", "parameters": {"type": "object", "properties": {"query": {}}}}',
    "tools under a key": '{"tools": [{"name": "search", "parameters": {"type": "object", "properties": {}}}]}',
    "a name with words": "search the web: that is what I would do (later).",
    "two in a sentence": 'First search("x"), then delete(path="/").',
    "words around a list": 'I used [book_flight(to="Oslo")] here.',
    "a log": '12:00:01 search(query="x") -> 3 pages\n12:00:02 done',
}
ANSWERS = {
    **{f"{a}: {b}": text.replace("{}", call) for a, text in SENTENCES.items() for b, call in WRITTEN.items()},
    **{f"{a}: {b}": text.replace("{}", call) for a, text in OF_OBJECTS.items() for b, call in OBJECTS.items()},
    **OTHERS,
}


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_mentions_a_call_stays_an_answer(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True)
    assert (extraction.content, extraction.tool_calls, extraction.attempts) == (text, (), ())


ODD = {
    "a dot after it": "NAME('VALUE').",
    "words after it, in a tag": "<tool_call>NAME('VALUE') please</tool_call>",
    "words after it, after a token": "<|python_tag|>NAME('VALUE') please",
    "in a code span": "`NAME('VALUE')`",
    "an item": "- NAME('VALUE')",
    "an item with a star": "* NAME(KEY='VALUE')",
    "an item with a number": "1. NAME('VALUE')",
    "a label that speaks of calls": "Tool call: NAME('VALUE')",
    "ReAct": 'Action: NAME\nAction Input: {"KEY": "VALUE"}',
    "ReAct with a thought": 'Thought: I need it.\nAction: NAME\nAction Input: {"KEY": "VALUE"}',
    "tool and parameters": 'Tool: NAME\nParameters:\n{"KEY": "VALUE"}',
    "words between": 'NAME with arguments: {"KEY": "VALUE"}',
    "the words of a log": '[Tool Call: NAME (ID: 1)] Arguments: {"KEY": "VALUE"}',
    "a token of Mistral's": 'NAME[ARGS]{"KEY": "VALUE"}',
    "curly quotes": "NAME[ARGS]{“KEY”: “VALUE”}",
    "Gemma's": 'call:NAME{KEY: "VALUE"}',
    "in brackets": "NAME[VALUE]",
    "lines in a tag": "<tool_call>\nname: NAME\nKEY: VALUE\n</tool_call>",
    "an arrow in a token": '[TOOL_CALL]{tool => "NAME"}[/TOOL_CALL]',
    "a colon": 'Sure!\n\nNAME: {"KEY": "VALUE"}',
    "in bold, its object on the next line": "**NAME**\n{KEY: VALUE}",
    "a name and pairs in a tag": '<tool_call>NAME KEY="VALUE"</tool_call>',
    "keys of another model": "<tool_call>NAME\n<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>",
    "another model's tags": (
        '<function_calls><invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke></function_calls>'
    ),
    "without quotes": "I will do it now:\nNAME(KEY=the VALUE)",
    "its arguments beside the name": '{"name": "NAME", "KEY": "VALUE"}',
    "a misspelt key": '{"name": "NAME", "paramters": {"KEY": "VALUE"}}',
    "the name as the key": '{"NAME": {"KEY": "VALUE"}}',
    "cut off": '{"name": "NAME", "parameters": {"KEY": "VALUE"',
    "a pythonic call cut off": 'NAME(KEY="VALUE"',
    "a raw line break in a string": 'NAME(KEY="VALUE\nand more")',
    "broken after words": 'Let me see. {"name": "NAME", "parameters": {"KEY": oops}}',
    "broken in a fence": '```json\n{"name": "NAME", "parameters": {"KEY": oops}}\n```',
    "in thoughts alone": '<think>{"name": "NAME", "parameters": {"KEY": "VALUE"}}</think>',
    "a namespace and an expression": 'functions.NAME(KEY="VALUE" or y)',
    "a function tag": "<function=NAME>{oops}</function>",
    "a broken envelope": '{"tool_calls": [{"name": "NAME", "arguments": oops}]}',
    "a dict of Python": "{'name': 'NAME', 'parameters': {'KEY': 'VALUE'}}",
}
ARGUMENTS = {"search": ("query", "x"), "send_mail": ("to", "Al"), "get_time": ("zone", "Paris")}
ALONE = {
    "no arguments, an item": "- clock()",
    "an object in a tag": "<tool_call>{oops}</tool_call>",
    "an object after a token": "<|python_tag|>{oops}",
    "an undeclared call": '{"name": "nope", "parameters": {"a": 1}}',
    "an undeclared list": '[book_flight(to="Oslo")]',
    "text for null": '{"name": "clock", "arguments": "null"}',
    "words in a tag": "<tool_call>I would search</tool_call>",
    "a list with a variable": "[search(query=x), clock()]",
}
ATTEMPTS = {
    **{
        f"{form}: {name}": text.replace("NAME", name).replace("KEY", key).replace("VALUE", value)
        for form, text in ODD.items()
        for name, (key, value) in ARGUMENTS.items()
    },
    **ALONE,
}


@pytest.mark.parametrize("text", ATTEMPTS.values(), ids=ATTEMPTS)
def test_a_call_in_an_odd_form_is_an_attempt_or_a_call(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True)
    assert extraction.tool_calls or extraction.attempts
