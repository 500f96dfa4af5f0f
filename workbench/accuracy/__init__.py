"""How often a vote is right: exact, by bound, and the best sets that follow (floor 2)."""
