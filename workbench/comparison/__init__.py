"""Exact against heuristic: one crowd, one table, for two classes and for several (floor 5).

Every method gets the same crowd, the same recorded or potential labels and the same gold answers;
its cost stands beside a proven lower bound, and its measured error beside the error its assignment
predicts. `running` is the door, `protocol` says what a method is, `rows` what a line says; the
other modules are two classes (`two_classes`, `two_class_methods`, `closed_loop`) and several
(`several_classes`, `several_class_methods`).
"""
