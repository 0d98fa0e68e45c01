"""The personal graph: values and rules. Pure."""
