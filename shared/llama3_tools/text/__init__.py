"""Text that is shown, written and gathered: invisible characters, JSON, text that grows."""

from llama3_tools.text.escaping import escape_invisible, escape_invisible_json
from llama3_tools.text.json_reading import read_json
from llama3_tools.text.json_writing import shown

__all__ = ["escape_invisible", "escape_invisible_json", "read_json", "shown"]
