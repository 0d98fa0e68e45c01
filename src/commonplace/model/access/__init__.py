"""Access: scopes, principals, keys and teams."""
