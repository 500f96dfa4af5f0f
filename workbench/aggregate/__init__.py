"""Votes to labels, and how often a vote is wrong (floor 2).

May import `workbench.crowd` and `workbench.errors`; knows no model and no solver.
"""
