"""OpenAI-compatible endpoints on loopback, for the examples and the tests.

- `demo`: the embedded endpoint, a stand-in for a model
- `program`: the command line of the examples, and the endpoint that it names
- `assistant`: the assistant of the quickstart: its tools, and how a small model is shown to call them
- `server`, `wire`: the HTTP server, and what an OpenAI-compatible server sends
- `script`: answers that you choose, cut where you choose
- `live`: llama.cpp serving a real, small model
"""
