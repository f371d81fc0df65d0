"""From a model's output to content, calls and rejections, whole or in chunks. `machine` says how it is read."""
