"""A suite's file as models of pydantic: which keys there are, and what each may contain.

The JSON Schema for editors, `suite.schema.json`, is made of them: `python -m llama3_acceptance.suites.models`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SkipValidation,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ValidationInfo, WithDefaultSchema

from llama3_acceptance.values import Equality, Mode, ResponseFormat, SuitePromptFormat
from llama3_tools.chat.tool_prompt import ToolsIn
from llama3_tools.formats import FormatName

SCHEMA_FILE = Path(__file__).parents[1] / "suite.schema.json"
"""The JSON Schema of a suite, for editors."""

NO_CALL = "none"
"""What a case expects if the answer should be words."""

Text = Annotated[str, Field(pattern=r"\S")]


class Part(BaseModel):
    """An object in a suite's file."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    def given(self, *names: str) -> dict[str, Any]:
        """Return what is written in the file, of all keys or of these."""
        return self.model_dump(include={*names} or None, exclude_unset=True)


class Message(BaseModel):
    """A message in OpenAI's chat format."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "if": {"properties": {"role": {"const": "tool"}}},
            "else": {"properties": {"content": {"type": ["string", "array", "null"]}}},
        },
    )
    role: Literal["system", "user", "assistant", "tool"]
    content: Any = None

    @field_validator("content")
    @classmethod
    def _check(cls, content: object, info: ValidationInfo) -> object:
        if info.data.get("role") != "tool" and not isinstance(content, (str, list, type(None))):
            raise ValueError("expected text or a list of parts")
        return content


class Comparison(Part):
    """How values are compared."""

    equal: Equality = "exact"
    """How strings are compared: character for character, or with case, white space and accents folded."""
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0
    """By how much a number may differ."""
    unordered: bool = False
    """Whether the order of lists does not matter."""


class Match(Comparison):
    """How calls are compared if a case says nothing else."""

    mode: Mode = "exact"
    """Whether a call may have arguments that are not expected: never, or any."""
    ignore: list[Text] = []
    """Arguments that are ignored in every call."""


class Rule(Comparison):
    """What is expected of an argument."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["value"]}, {"required": ["any_of"]}]})
    value: Any = None
    """The value that is accepted; an object has to be written here."""
    any_of: Annotated[list[Any], Field(min_length=1)] = []
    """The values that are accepted."""
    optional: bool = False
    """Whether the argument may be left out."""

    @model_validator(mode="after")
    def _check(self) -> Rule:
        if len({"value", "any_of"} & self.model_fields_set) != 1:
            raise ValueError(
                "expected one of value and any_of; an object that is itself the value is written under value"
            )
        return self


Argument = Annotated[
    Annotated[Rule, Tag("<rule>")] | Annotated[Any, Tag("<value>"), WithJsonSchema({"not": {"type": "object"}})],
    Discriminator(lambda value: "<rule>" if isinstance(value, (dict, Rule)) else "<value>"),
]


class Call(Part):
    """A call that is expected."""

    tool: Text
    """The name of a declared tool."""
    arguments: dict[str, Argument] = {}
    """What is expected of each argument: a value, or an object with more to say."""
    ignore: list[Text] = []
    """Arguments that may be there or not, with any value."""
    defaults: dict[str, Any] = {}
    """What the tool takes for arguments that are left out, beside the defaults in its schema."""
    mode: Mode = "exact"
    """Whether the call may have arguments that are not expected: never, or any."""


def _kind(expected: object) -> str | None:
    if isinstance(expected, (dict, Part)):
        return "<any_of>" if isinstance(expected, AnyOf) or "any_of" in dict(expected) else "<call>"
    return "<calls>" if isinstance(expected, list) else "<none>" if expected == NO_CALL else None


_EXPECTED = f"expected a call, a list of calls, any_of with several of these, or {NO_CALL}"
_KINDS = Discriminator(_kind, custom_error_type="expected", custom_error_message=_EXPECTED)
_Calls = (
    Annotated[Literal["none"], Tag("<none>")]
    | Annotated[Call, Tag("<call>")]
    | Annotated[list[Call], Field(min_length=1), Tag("<calls>")]
)
Calls = Annotated[_Calls, _KINDS]


class AnyOf(Part):
    """Several ways to pass."""

    any_of: Annotated[list[Calls], Field(min_length=1)]
    """The ways, each with all of its calls."""


Expected = Annotated[_Calls | Annotated[AnyOf, Tag("<any_of>")], _KINDS]


class CaseOfFile(Part):
    """One command, and what the model should make of it."""

    id: Text = ""
    """A name, unique in the suite. Default: the command."""
    command: Text
    """What the user says."""
    expect: Expected
    """A call, a list of calls, any_of with several of these, or none."""
    ordered: bool = False
    """Whether the order of the calls matters."""
    direct_answer: bool = True
    """Whether an answer in words may replace the calls. Default: as the policies have it."""
    history: list[Message] = []
    """The messages before the command."""
    tags: list[Text] = []
    """Words to group cases by."""


class PromptOfFile(Part):
    """How the commands are put to the model."""

    system: Text = ""
    """The system message."""
    format: SuitePromptFormat = "json"
    """The form in which the prompt asks for calls; native: the server gets the tools instead; strict: the answer has to
    be the one object of the strict response format."""
    tools_in: ToolsIn = "user"
    """The message that the tools are put into: the first of the user's, or the system's."""
    examples: list[Message] = []
    """Messages before each case's own, to show some calls."""
    multiple: bool = False
    """In the strict format: an answer has its calls in an array."""
    response_format: ResponseFormat = "json_schema"
    """In the strict format: how the server is sent the schema; json_object is for llama-cpp-python's server."""


class ReadingOfFile(Part):
    """How calls are looked for in text: with the options that the assistant reads with."""

    formats: Annotated[
        Annotated[FormatName, Tag("<one>")] | Annotated[list[FormatName], Field(min_length=1), Tag("<several>")],
        Discriminator(lambda value: "<several>" if isinstance(value, list) else "<one>"),
    ] = "all"
    """The forms of calls to read. Default: all but code, and pythonic calls of declared tools only."""
    repair: bool = False
    """Whether malformed calls of declared tools are repaired."""
    starts_reasoning: bool = False
    """Whether the text begins inside reasoning, as the prompt ends with <think>."""


class PoliciesOfFile(Part):
    """What the suite is lenient about."""

    text_calls: bool = True
    """A call in the text counts if tool_calls is empty."""
    direct_answers: Annotated[
        Annotated[bool, Tag("<all>")] | Annotated[list[Text], Tag("<names>")],
        Discriminator(lambda value: "<all>" if isinstance(value, bool) else "<names>"),
    ] = True
    """The tools in whose place an answer in words passes. true: calculate, answer_question, tell_joke; false: none."""
    stringified_lists: bool = True
    """A string that the model gave is compared as the list that it contains, if a list is expected."""
    native_calls_only: bool = False
    """JSON in the text is a failure, be it a call or not."""


class SuiteOfFile(Part):
    """Which tool calls a model should make of which commands. The tools and the cases are checked one by one."""

    schema_: str = Field("", alias="$schema")
    """Where this schema is, for editors."""
    name: Text = ""
    """What reports call the suite. Default: the file's name."""
    tools: SkipValidation[Text | Annotated[list[dict[str, Any]], Field(min_length=1)]]
    """The tools that may be called, or the name of a file that contains them, relative to this one."""
    prompt: PromptOfFile = PromptOfFile()
    reading: ReadingOfFile = ReadingOfFile()
    policies: PoliciesOfFile = PoliciesOfFile()
    match: Match = Match()
    cases: Annotated[list[SkipValidation[CaseOfFile]], Field(min_length=1)]


class _WithoutDefaults(GenerateJsonSchema):
    """Leaves out the models' defaults: they fill missing keys, and are not always what a missing key means."""

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of the value alone."""
        return self.generate_inner(schema["schema"])


def suite_schema() -> JsonSchemaValue:
    """Return the JSON Schema of a suite."""
    schema = SuiteOfFile.model_json_schema(schema_generator=_WithoutDefaults)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


if __name__ == "__main__":  # pragma: no cover - a test says when it has to be run
    SCHEMA_FILE.write_text(json.dumps(suite_schema()) + "\n", "utf-8")
