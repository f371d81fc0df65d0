"""Objects of JSON and literals of Python: by the scanner in C where all is there, token by token where it is not."""
