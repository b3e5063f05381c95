#!/usr/bin/env python3
"""Finds code that GCC 12 miscompiles in statements with `co_await` (docs/guide/handlers-that-wait.md).

Part of the installed library, for the programs of its users: skua_check_coroutines() in CMake.
Flagged: two co_await in one statement; braces that build a value (except `co_await Awaiter{}`); a
conditional operator; a closure that captures by value; and, anywhere, a capturing coroutine lambda
that is called immediately.
A statement that is known to be safe says why in a comment: `// await-safe: trivially copyable`.
Usage: check_coroutines.py ROOT...
"""
import re
import sys
from dataclasses import dataclass, field

import arguments
from cpp_text import blank, blank_preprocessor, sources

TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|->|::|&&|\|\||\S")
CLOSES = {"(": ")", "[": "]", "{": "}"}
MARK = "await-safe:"


@dataclass
class Node:
    """A token, or a bracket with its contents."""
    text: str
    line: int
    inside: list["Node"] = field(default_factory=list)
    end: int = 0


def tree(text: str) -> list[Node]:
    root = Node("", 1)
    stack, line, last = [root], 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        token = match[0]
        if token in CLOSES:
            node = Node(token, line)
            stack[-1].inside.append(node)
            stack.append(node)
        elif token in CLOSES.values():
            if len(stack) > 1 and CLOSES[stack[-1].text] == token:
                stack.pop().end = line
        else:
            stack[-1].inside.append(Node(token, line, end=line))
    return root.inside


def is_captures(nodes: list[Node], at: int) -> bool:
    """Reports whether the bracket [ ] at this position opens a lambda."""
    if nodes[at].text != "[":
        return False
    before = nodes[at - 1] if at else None
    subscript = before and (re.fullmatch(r"[\w.']+|\]", before.text) or before.text in "([")
    return not subscript or before.text in {"return", "co_return", "co_await", "co_yield"}


def lambda_body(nodes: list[Node], at: int) -> int:
    """Returns the index of the body of the lambda that starts at `at`, or -1."""
    for ahead in range(at + 1, len(nodes)):
        if nodes[ahead].text == "{":
            return ahead
        if nodes[ahead].text in {";", ",", "="}:
            return -1
    return -1


def owning(captures: Node) -> bool:
    """Reports whether captures own: [x], [x = ...], [=], [*this] do; [], [&], [&x], [&x = y], [this] do not."""
    start = True
    for at, node in enumerate(captures.inside):
        if start and node.text not in {"&", "this"}:
            return True
        start = node.text == ","
    return False


def is_block(nodes: list[Node], at: int) -> bool:
    """Reports whether braces at statement level hold statements, not the parts of a value."""
    if at == 0:
        return True
    before = nodes[at - 1].text
    after_call = before == "(" and not (at >= 2 and nodes[at - 2].text == "decltype")
    if after_call or before in {";", "{", "}", ":", "else", "do", "try", "const", "noexcept", "override", "final", "mutable"}:
        return True
    for back in range(at - 1, -1, -1):  # `-> Type {`, `namespace a {`, `struct B : C {`
        token = nodes[back].text
        if token in {"->", "namespace", "struct", "class", "union", "enum", "extern"}:
            return True
        if not re.fullmatch(r"[A-Za-z_]\w*|::?|&&|[<>&*,(\"]", token) or token in {"return", "co_return", "co_await"}:
            return False
    return False


def after_awaiter(nodes: list[Node], at: int) -> int:
    """Skips `Name{}`: an awaiter without members has nothing to miscopy."""
    ahead = at
    while ahead < len(nodes) and re.fullmatch(r"\w+|::|<|>", nodes[ahead].text):
        ahead += 1
    empty = at < ahead < len(nodes) and nodes[ahead].text == "{" and not nodes[ahead].inside
    return ahead + 1 if empty else at


class Checker:
    def __init__(self, lines: list[str]):
        self.lines, self.found = lines, []

    def report(self, nodes: list[Node], what: str) -> None:
        first, last = nodes[0].line, max(node.end or node.line for node in nodes)
        if not any(MARK in text for text in self.lines[max(first - 2, 0):last]):
            self.found.append((first, what))

    def statements(self, nodes: list[Node]) -> None:
        """Splits a block into statements; every control header is a statement of its own."""
        start = at = 0
        while at < len(nodes):
            token = nodes[at].text
            if token == ";" or (token == "{" and self.ends_here(nodes, start, at)):
                self.statement(nodes[start:at])
                self.statements(nodes[at].inside) if token == "{" else None
                start = at + 1
            elif token == "(" and at > start and self.control(nodes, at):
                self.statements(nodes[at].inside)
                start = at + 1
            elif token in {"else", "do"}:
                start = at + 1
            at += 1
        self.statement(nodes[start:])

    @staticmethod
    def control(nodes: list[Node], at: int) -> bool:
        word = nodes[at - 1].text
        if word == "constexpr" and at >= 2:
            word = nodes[at - 2].text
        return word in {"if", "while", "for", "switch", "catch"}

    @staticmethod
    def ends_here(nodes: list[Node], start: int, at: int) -> bool:
        if any(is_captures(nodes, i) and lambda_body(nodes, i) == at for i in range(start, at)):
            return False
        return start == at or is_block(nodes[start:], at - start)

    def statement(self, nodes: list[Node]) -> None:
        if not nodes:
            return
        counts = {"co_await": 0, "?": 0, "{": 0, "owning": 0}
        self.walk(nodes, counts)
        if not counts["co_await"]:
            return
        if counts["co_await"] > 1:
            self.report(nodes, "two co_await in one statement: give each result a name, in a statement of its own")
        if counts["?"]:
            self.report(nodes, "a conditional operator in a statement with co_await: "
                        "choose before it, with a named variable or an if")
        if counts["{"]:
            self.report(nodes, "braces build a value in a statement with co_await: "
                        "give the value a name before it")
        if counts["owning"]:
            self.report(nodes, "a closure that captures by value in a statement with co_await: "
                        "give the closure a name before it")

    def walk(self, nodes: list[Node], counts: dict[str, int]) -> None:
        """Counts tokens in one statement. The bodies of its lambdas are separate blocks."""
        at = 0
        while at < len(nodes):
            node = nodes[at]
            if is_captures(nodes, at) and (body := lambda_body(nodes, at)) >= 0:
                owns = owning(node)
                counts["owning"] += owns
                self.statements(nodes[body].inside)
                called = body + 1 < len(nodes) and nodes[body + 1].text == "("
                if called and node.inside and self.suspends(nodes[body].inside):
                    self.report(nodes, "a capturing coroutine lambda is called immediately: its captures "
                                       "die with the statement; write a function with parameters")
                at = body + 1
                continue
            if node.text in counts and (at == 0 or nodes[at - 1].text != "operator"):
                counts[node.text] += 1
            self.walk(node.inside, counts)
            at = after_awaiter(nodes, at + 1) if node.text == "co_await" else at + 1

    def suspends(self, nodes: list[Node]) -> bool:
        return any(node.text in {"co_await", "co_return", "co_yield"} or self.suspends(node.inside) for node in nodes)


def check(text: str) -> list[tuple[int, str]]:
    checker = Checker(text.splitlines())
    checker.statements(tree(blank_preprocessor(blank(text))))
    return sorted(set(checker.found))


def main(roots: list[str]) -> int:
    wrong = 0
    for file in sources(roots):
        text = file.read_text(errors="replace")
        if not re.search(r"\bco_(await|return|yield)\b", text):
            continue
        for line, what in check(text):
            print(f"{file}:{line}: {what}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "ROOT", "+")))
