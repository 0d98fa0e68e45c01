"""The faces of the engine. They decide nothing."""
