"""The strict response format: the check of a response, and the schema for a server."""

from llama3_tools.strict.check import parse_response
from llama3_tools.strict.schema import response_json_schema

__all__ = ["parse_response", "response_json_schema"]
