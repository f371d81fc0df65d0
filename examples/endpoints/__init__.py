"""OpenAI-compatible endpoints on loopback, for the examples and the tests.

- `assistant`: the little assistant that they all talk to, its tools and how it is shown to answer
- `strict`: the same, asked for answers in the strict response format
- `server`: the HTTP server, whatever it is that answers
- `wire`: what an OpenAI-compatible server sends, as bytes
- `script`: answers that you choose, cut where you choose
- `recordings`, `replay`: recorded streams of a real model, and an endpoint that plays them
- `live`: llama.cpp serving a real model
- `questions`, `grammars`, `record`: what is recorded, and the command that records it
- `options`: the command line of the examples, and the endpoint that it asks for
"""
