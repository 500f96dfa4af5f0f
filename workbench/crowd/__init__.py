"""The crowd: workers, skills, labels and data sets (ground floor).

Knows no optimization model and no solver; may import only `workbench.base.errors`.
"""
