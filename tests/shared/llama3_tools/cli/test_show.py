"""An output, as a terminal shows it: its segments in colour, and below them what became of each."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools import Extractor
from llama3_tools.cli.show import show_output
from llama3_tools.output.other_readings import other_calls
from llama3_tools.output.segments import read_segments
from screens import on_screen

CALL = '{"name": "clock", "parameters": {"city": "Paris"}}'
ODD = (
    "{'name': 'clock', 'parameters': {}}, <function(clock)>{'é\u200dé': 1}</function>\n\n"
    '{"name": "é\u200dé", "parameters": {}} and\n'
    f"```python\n{CALL}{' ' * 40}\n```"
)
ODD_OPTIONS = {"tools": [{"name": "clock"}, {"name": "ü\u200dü"}], "repair": True}
OTHER = 'So:\n<function=clock {"city": "é\u200dé"}></function>\n<|python_tag|>1 + 1<|eom_id|>'


SHOWN_ODD = """\
[bold]a\\x1b.txt[/]: 3 calls, 1 rejection

  [bold green]{'name': 'clock', 'parameters': {}}[/][dim cyan], [/]
  [bold green]<function(clock)>{'é\\u200dé': 1}[/][dim cyan]</function>[/]

  [bold red]{"name": "é\\u200dé", "parameters": {}}[/] and
  [dim cyan]```python[/]
  [bold green]{"name": "clock", "parameters": {"city": "Paris"}}[/][dim cyan]      [/]
  [dim cyan]```[/]

  [bold green]call    [/]  1:1   clock {}[dim]  read as json, repaired[/]
  [dim cyan]removed [/]  1:36  [dim]', '[/]
  [bold green]call    [/]  1:38  clock {"é\\u200dé": 1}[dim]  read as function,[/]
                  [dim]repaired[/]
  [dim cyan]removed [/]  1:65  [dim]'</function>\\n\\n'[/]
  [bold red]rejected[/]  3:1   [bold]unknown_tool[/]: 'é\\u200dé' is not a
                  declared tool; declared: clock, ü\\u200dü
                  [dim]with --tools that declare é\\u200dé, it [/]
                  [dim]is a call: é\\u200dé {}[/]
  [dim cyan]removed [/]  3:38  [dim]'\\n```python\\n'[/]
  [bold green]call    [/]  5:1   clock {"city": "Paris"}[dim]  read as fence[/]
  [dim cyan]removed [/]  5:51  [dim]'                                       [/]
                  [dim]\\n```'[/]

"""


SHOWN_OTHER = """\
[bold]a\\x1b.txt[/]: 0 calls, 2 rejections

  So:
  <function=clock [bold red]{"city": "é\\u200dé"}[/]></function>
  [bold red]<|python_tag|>[/]1 + 1[dim cyan]<|eom_id|>[/]

  [bold red]rejected[/]  2:17  [bold]not_a_call[/]: an object with the keys city,
                  but no name
                  [dim]with --tools that declare clock, it is a [/]
                  [dim]call: clock {"city": "é\\u200dé"}[/]
  [bold red]rejected[/]  3:1   [bold]not_a_call[/]: <|python_tag|> with anything but
                  a call in it
  text      3:15  with --tools that declare code_interpreter,
                  it is a call: code_interpreter {"code": "1 +
                  1"}
  [dim cyan]removed [/]  3:20  [dim]'<|eom_id|>'[/]

"""


def shown(text: str, options: dict[str, Any], width: int) -> str:
    extractor = Extractor(**options)
    output, others = read_segments(extractor, text), other_calls(extractor, text)
    return on_screen(lambda screen: show_output(screen, "a\x1b.txt", output, others), width)


@pytest.mark.parametrize(
    ("text", "options", "width", "expected"),
    [
        (ODD, ODD_OPTIONS, 60, SHOWN_ODD),
        (OTHER, {}, 64, SHOWN_OTHER),
    ],
)
def test_an_output_is_shown_in_colour_with_what_became_of_its_segments(
    text: str, options: dict[str, Any], width: int, expected: str
) -> None:
    assert shown(text, options, width) == expected


def test_the_same_call_is_told_once_where_it_would_stand() -> None:
    call = '{"tool": "f", "args": {}}'
    assert shown(f'{{"tool_calls": [{call}, {call}]}}', {}, 120).count("that declare f, it is a call: f {}") == 1


def test_what_other_options_call_is_told_in_the_order_of_the_text() -> None:
    places = [line.split()[1] for line in shown("So: [f(a=1)]\nand [g(a=1)]", {}, 120).splitlines() if "it is" in line]
    assert places == ["1:6", "2:6"]
