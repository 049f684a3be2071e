"""Report lines that hold more than one step: `python .ci/one_step.py frame_pr tests`.

A statement has at most one conditional expression, and assigns one value. A function has at most
60 lines of code, 15 branches and 8 parameters (public ones as many as their users need).
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr, ast.Raise, ast.Assert)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (
    *(ast.If, ast.For, ast.While, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ExceptHandler),
)


def number_of(node: ast.AST, kinds: type | tuple[type, ...]) -> int:
    return sum(isinstance(inner, kinds) for inner in ast.walk(node))


def code_lines(function: ast.FunctionDef, lines: list[str]) -> int:
    start = function.body[1 if ast.get_docstring(function) is not None else 0 :]
    first = start[0].lineno if start else function.lineno
    header = function.body[0].lineno - function.lineno
    body = lines[first - 1 : function.end_lineno]
    return header + sum(bool(line.strip()) and line.strip()[0] != "#" for line in body)


def faults(node: ast.AST, lines: list[str]) -> Iterator[str]:
    if isinstance(node, STATEMENTS) and number_of(node, ast.IfExp) > 1:
        yield "more than one conditional expression in a statement"
    if isinstance(node, ast.Assign) and {ast.Tuple} == {type(node.value), type(node.targets[0])}:
        yield "a tuple is packed to assign several names"
    if isinstance(node, FUNCTIONS):
        if (length := code_lines(node, lines)) > 60:
            yield f"{node.name} has {length} lines of code"
        if (branches := 1 + number_of(node, BRANCHES)) > 15:
            yield f"{node.name} has {branches} branches"
        is_public = any("public" in ast.unparse(decorator) for decorator in node.decorator_list)
        parameters = len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
        if parameters > 8 and not is_public:
            yield f"{node.name} has {parameters} parameters"


def main(folders: list[str]) -> int:
    violations = 0
    for folder in folders:
        root = Path(folder)
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            for node in ast.walk(ast.parse(text)):
                for fault in faults(node, lines):
                    print(f"{path}:{node.lineno}: {fault}")
                    violations += 1
    return min(violations, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
