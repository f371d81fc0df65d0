"""Measures how well a model calls your tools: suites of commands, and the judgement of each response.

The page `docs/acceptance.md` begins with a suite. Reading one needs the extra `acceptance`; judging needs nothing.
"""

from llama3_acceptance.assertions import SuiteCase, assert_tool_call
from llama3_acceptance.judging.judge import judge
from llama3_acceptance.judging.responses import Answer, read_response
from llama3_acceptance.suites.load import SuiteError, load_suite
from llama3_acceptance.values import (
    Allowance,
    ArgumentRule,
    Case,
    ExpectedCall,
    FoundCall,
    Judgement,
    Judgements,
    Policies,
    Prompt,
    Reading,
    Suite,
    Verdict,
)

__all__ = [
    "Allowance",
    "Answer",
    "ArgumentRule",
    "Case",
    "ExpectedCall",
    "FoundCall",
    "Judgement",
    "Judgements",
    "Policies",
    "Prompt",
    "Reading",
    "Suite",
    "SuiteCase",
    "SuiteError",
    "Verdict",
    "assert_tool_call",
    "judge",
    "load_suite",
    "read_response",
]
