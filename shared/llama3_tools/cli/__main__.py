"""`python -m llama3_tools.cli`, for where the command is not on the path."""

from llama3_tools.cli import main

main()
