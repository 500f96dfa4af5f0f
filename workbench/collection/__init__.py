"""Label until sure (floor 3): whom to ask next, about what, and when to stop."""
