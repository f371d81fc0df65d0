"""The subcommands `llama3-tools accept` and `doctor`, entry points of the group `llama3_tools.commands`."""
