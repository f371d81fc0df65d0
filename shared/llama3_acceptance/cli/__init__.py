"""The subcommand `llama3-tools accept`, an entry point of the group `llama3_tools.commands`."""
