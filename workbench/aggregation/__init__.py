"""Votes to labels, and how often a vote is wrong (floor 2)."""
