"""Outputs as models write them: the shapes and lengths are those of published outputs, what they say is made up."""

from __future__ import annotations

import json
from typing import Any


def _tool(name: str, description: str, **types: str) -> dict[str, Any]:
    properties = {parameter: {"type": type_} for parameter, type_ in types.items()}
    schema = {"type": "object", "properties": properties, "required": list(types)[:1]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [
    _tool("get_weather", "The weather of a city.", city="string", days="integer", units="string"),
    _tool("find_recipe", "Search recipes.", diet="string", ingredients="array", servings="integer"),
    _tool("convert_currency", "Convert an amount.", amount="number", source="string", target="string"),
    _tool("book_room", "Book a hotel room.", hotel="string", arrival="string", nights="integer", breakfast="boolean"),
    _tool("orbit_period", "The period of an orbit.", radius="number", mass="number"),
]
"""Five tools, which all outputs are read with where tools are declared."""

_RECIPE = (
    '{"arguments": {"diet": "vegetarian", "ingredients": ["leek", "barley"], "servings": 2}, "name": "find_recipe"}'
)
_WEATHER = '{"name": "get_weather", "parameters": {"city": "Lisbon", "days": 3, "units": "metric"}}'
_ROOM = (
    '{"arguments": {"hotel": "Harbour House", "arrival": "2026-03-14", "nights": 3, "breakfast": true}, '
    '"name": "book_room"}'
)


def _convert(amount: int, source: str, target: str) -> str:
    arguments = f'{{"amount": {amount}, "source": "{source}", "target": "{target}"}}'
    return f'{{"arguments": {arguments}, "name": "convert_currency"}}'


_CONVERSIONS = [_convert(450, "NOK", target) for target in ("SEK", "DKK", "PLN")]

_TAGGED = "".join(f"<tool_call>\n{call}\n</tool_call>\n" for call in (_RECIPE, *_CONVERSIONS[:2]))
_TEXT_AND_JSON = (
    "I can look that up for you. These are the conversions that you asked for:\n\n"
    f"{_CONVERSIONS[0]}\n{_CONVERSIONS[1]}\n\n"
    "The forecast for your trip comes after that, as the fare depends on it:\n\n"
    f"{_WEATHER}\n\n"
    "Once I have the results I will put them into one table. Let me know if you need anything else!"
)
_FENCED = (
    "Here is what I found out so far, and what is still missing.\n\n"
    "**First guest: two nights, half board, one child**\n"
    f"```json\n{_ROOM}\n```\n\n"
    "The room has a view of the harbour, and breakfast is served from seven. There is a lift, and bicycles can be left "
    "in the yard.\n\n"
    "**Second guest: the fare in her own currency**\n"
    f"```json\n{_CONVERSIONS[2]}\n```\n\n"
    "The rate is that of the central bank, at noon. Banks take about two percent on top of it, so that the amount on "
    "the statement may differ a little from what I say here.\n\n"
    "1. **Arrival**: from three in the afternoon; later arrivals should ring an hour before.\n"
    "2. **Departure**: until eleven, luggage may stay until the evening.\n"
    "3. **Payment**: by card or in cash, on the day of departure.\n\n"
    "If one of the dates is wrong, tell me, and I will ask the hotel to change it before the end of the day."
)
_CHATML = (
    f"<|im_start|>\n{_ROOM}\n<|im_start|>"
    + "<|im_start|><|im_start|>assistant<|end_header_id|>" * 9
    + "\n\nI have booked the room with the arguments that you gave me. Here is the call, for the forecast:\n\n"
    + f"<|im_start|>\n{_WEATHER}\n<|im_start|><|im_start|>assistant<|end_header_id|>\n\n"
    + "The harbour is a short walk from the station, and the forecast for the weekend is fair. Trams run every ten "
    + "minutes until midnight, and a ticket for the day is cheaper than three single ones. Let me know whether a table "
    + "for dinner should be booked as well."
    + "<|im_start|><|im_start|>assistant<|end_header_id|>" * 8
    + "<|im_end|>"
)
REAL_SHAPES = {
    "`<tool_call>`": (_TAGGED, [_RECIPE, *_CONVERSIONS[:2]]),
    "text and JSON": (_TEXT_AND_JSON, [*_CONVERSIONS[:2], _WEATHER]),
    "fences with JSON": (_FENCED, [_ROOM, _CONVERSIONS[2]]),
    "ChatML": (_CHATML, [_ROOM, _WEATHER]),
}
"""Outputs with calls, and the calls in them."""

PROSE = (
    "The river rises in the hills to the north and takes a bend around the old town before it flows into the sea "
    "itself. The name comes from a word for alder, which still grows on both banks, and for many years it turned the "
    "wheels of seven mills. Only a single one is left; it grinds flour on two days of the year, when the school brings "
    "its pupils to see how bread was made. In March the low meadows are under water for a week or two, and people who "
    "live there keep a boat next to the bicycle in a shed."
)
"""500 characters without a character that anything begins with."""
MARKDOWN = (
    "## Getting there\n\n"
    "- **By train**: every hour from the main station, change at `Nordby`\n"
    "- **By bus**: line 12 (weekdays) or 14 (weekends) [1]\n\n"
    "1. Buy a ticket in the *app*, or at the counter\n"
    "2. Get off at the fourth stop, `Old Mill`\n"
    "3. Follow the signs to the [museum](https://example.org/museum)\n\n"
    "> Bring a rain coat: the way has no roof.\n\n"
    "| day | opens | closes |\n|---|---|---|\n| Mondays | 09:00 | 17:00 |\n| Sundays | 10:00 | 16:00 |\n\n"
    "Tickets cost 12 (8 for children), *see below* for bigger groups."
)
"""500 characters with the characters of Markdown."""

_MADE_UP = (
    PROSE,
    MARKDOWN,
    "[get_weather(city='Lisbon', days=3), book_room(hotel=\"Harbour House\", arrival='2026-03-14', nights=3)]",
    "get_weather(city='Lisbon', days=3)",
    f"<|python_tag|>{_WEATHER}<|eom_id|>",
    '<function=get_weather>{"city": "Lisbon", "days": 3}</function>',
    '{"type": "function", "function": "get_weather", "parameters": {"city": "Lisbon"}}',
    '{"type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Lisbon\\"}"}}',
    f"[{_CONVERSIONS[0]}, {_CONVERSIONS[1]}]",
    f"{_CONVERSIONS[0]}; {_CONVERSIONS[1]}",
    '{"name": "get_weather", "parameters": {"city": "Lisbon", "days": 3}',
    '{"arguments": {"city": "Lisbon", "now": True}, "name": "get_weather"}',
    "{'name': 'get_weather', 'parameters': {'city': 'Lisbon'}}",
    '["get_weather", {"city": "Lisbon"}]',
    f"<think>Should I call {_WEATHER}? No.</think>\nIt is sunny.",
    f"As an example, write `{_WEATHER}` on a line.",
    f"```python\nimport requests\n\npayload = {_WEATHER}\nrequests.post(url, json=payload)\n```",
    f"> {_WEATHER}\n\nThat is what I was sent.",
    f"<tool_response>\n{_WEATHER}\n</tool_response>\nThat was the answer.",
)
OUTPUTS: list[tuple[str, list[dict[str, Any]]]] = [
    *((text, TOOLS) for text, _ in REAL_SHAPES.values()),
    *((text, TOOLS) for text in _MADE_UP),
]
"""All of them with their tools."""

assert all(json.loads(call) for _, calls in REAL_SHAPES.values() for call in calls)  # noqa: S101 - the floor reads them
