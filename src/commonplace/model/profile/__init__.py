"""Profile: fields, proposals and consent."""
