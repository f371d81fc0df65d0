"""The strict response format: the check of a response, and the schema for a server."""
