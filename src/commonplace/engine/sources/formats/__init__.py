"""Source formats, one file each: raw bytes become a ParsedSource. Pure."""
