"""What an agent needs beside the reading of one text."""
