"""What of vLLM the tool parser touches, for tests where vLLM is not installed. A test holds it to vLLM's own."""
