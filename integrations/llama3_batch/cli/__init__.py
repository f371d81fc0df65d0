"""What the command `llama3-tools extract` can do with files of many outputs."""
