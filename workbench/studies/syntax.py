"""Syntax trees of Python files as far as they count: what is bound, and one text for one meaning.

Docstrings, comments and how lines are broken are no other code; nor is what is imported for type
checking alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BINDING = (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


def bare(tree: ast.Module) -> ast.Module:
    """Leave out of a tree what is no code."""
    left: ast.Module = _Bare().visit(tree)
    return left


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings, of attributes too, and what is imported for type checking alone."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            statements = [
                part
                for part in body
                if not (
                    isinstance(part, ast.Expr)
                    and isinstance(part.value, ast.Constant)
                    and isinstance(part.value.value, str)
                )
            ]
            node.body = statements or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        if ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            return ast.Pass()
        return self.generic_visit(node)


def bound(node: ast.stmt) -> Iterator[str]:
    """Names that a top-level statement binds."""
    if isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if alias.name != "*":
                yield (alias.asname or alias.name).partition(".")[0]
    else:
        inside = [part for part in ast.walk(node) if isinstance(part, ast.comprehension)]
        passing = {id(name) for part in inside for name in ast.walk(part.target)}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield from () if id(part) in passing else (part.id,)
            elif isinstance(part, (*DEFINITIONS, ast.Import, ast.ImportFrom)):
                yield from bound(part)


def single(node: ast.stmt) -> list[ast.stmt]:
    """An import taken apart, a name each; another statement as it is."""
    if isinstance(node, ast.ImportFrom):
        return [ast.ImportFrom(node.module, [alias], node.level) for alias in node.names]
    if isinstance(node, ast.Import):
        return [ast.Import([alias]) for alias in node.names]
    return [node]


def hashed(text: str) -> str:
    """SHA-256 of a text, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def dumped(node: object) -> str:
    """Write a tree without what is empty: later Pythons have fields that earlier ones lack."""
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        inside = ", ".join(f"{name}={dumped(value)}" for name, value in fields)
        return f"{type(node).__name__}({inside})"
    if isinstance(node, list):
        return f"[{', '.join(map(dumped, node))}]"
    return repr(node)
