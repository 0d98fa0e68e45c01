"""JSON over HTTP, for embedders and language models. Nothing is sent unless one is configured."""
