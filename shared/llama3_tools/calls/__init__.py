"""From JSON to tool calls: the shapes they have, and the repair of broken ones."""
