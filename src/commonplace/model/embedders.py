"""How one asks again for the embedder whose name is kept with a store's vectors."""

# The kept name, which tells models and sizes apart → what the setting `embedder` takes.
SHIPPED = {
    "wordllama-l2-supercat-256": "wordllama",
    "all-minilm-l6-v2-int8": "minilm",
    "hashing-256": "hashing",
}
OVER_HTTP = "openai:"  # and the model


def asked_for(kept: str) -> str:
    """As a remedy tells it: in words that can be typed, where there are any."""
    if kept in SHIPPED:
        return f"`--embedder {SHIPPED[kept]}`"
    if kept.startswith(OVER_HTTP):
        model = kept.removeprefix(OVER_HTTP)
        return f"`--embedder openai` and the setting embedder_model = {model}"
    return f"the embedder {kept}, given in Python"
