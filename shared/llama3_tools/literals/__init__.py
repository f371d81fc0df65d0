"""Objects of JSON and literals of Python: by the scanner in C if all is there, token by token if it is not."""
