"""Every message that an error can carry, taken from the sources: what varies is written as an ellipsis."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GAP = "…"
KINDS = {  # code -> heading, what it means
    "usage": ("Usage (exit code 2, `ValueError`)", "An option or an argument is not allowed; nothing was read."),
    "bad_data": ("Bad data (exit code 3, `ValueError`)", "The table is not what it should be; the message names the place."),
    "resources": ("Memory (exit code 4, `MemoryError`)", "The run does not fit into the limit."),
    "io": ("Files (exit code 5, `OSError`)", "A file could not be read or written."),
    "not_converged": ("Not converged (exit code 6)", "Only with `--strict`; otherwise a warning."),
    "python": ("Raised in Python", "By the package itself, before or after the core is called."),
}
CODE = re.compile(r"(?:\bError|\bfail|\brequire\w*)\((?:[^;]*?,\s*)?ErrorCode::(\w+),|\b(wrong)\(|\bconcat\(")
SYSTEM = ("No such file or directory", "Permission denied", "Is a directory", "Not a directory", "No space left on device",
          "Read-only file system", "Too many open files", "Input/output error", "File name too long")
STRING = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')


def arguments(text, start):
    """The arguments of a call from `start` to its closing parenthesis, as pieces of source."""
    depth, piece, pieces, at = 0, "", [], start
    while at < len(text):
        quoted = STRING.match(text, at)
        if quoted:
            piece += quoted.group(0)
            at = quoted.end()
            continue
        letter = text[at]
        if letter == "'":  # a character
            end = text.index("'", at + (3 if text[at + 1] == "\\" else 2))
            piece += text[at : end + 1]
            at = end + 1
            continue
        if letter in ")]}" and depth == 0:
            break
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            pieces.append(piece)
            piece = ""
        else:
            piece += letter
        at += 1
    return [*pieces, piece]


def spoken(pieces):
    """The message: texts as they are, everything else a gap."""
    out = ""
    for piece in pieces:
        piece = piece.strip()
        if STRING.fullmatch(piece):
            out += "".join(ast.literal_eval(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', piece))
        elif not out.endswith(GAP):
            out += GAP
    return out


def of_core():
    """(kind, message, file) of every message in the C++ sources."""
    for path in sorted([*ROOT.glob("tamis/**/*.cpp"), *ROOT.glob("tamis/**/*.h"), *ROOT.glob("app/**/*.cpp")]):
        text = re.sub(r"(?m)(?<!:)//.*$", "", path.read_text(encoding="utf-8"))
        for match in CODE.finditer(text):
            kind = match.group(1) or ("bad_data" if match.group(2) else "usage")
            message = spoken(arguments(text, match.end()))
            if not any(match.groups()) and ", need " not in message:  # a text that becomes a message elsewhere says that
                continue
            if kind != "internal" and re.search(r"[a-z]{3}", message):
                yield kind, (GAP + ": " if match.group(2) else "") + message, str(path.relative_to(ROOT))
    for reason in SYSTEM:
        yield "io", f"{GAP}: {reason}", "the system"


def text_of(node):
    """The text of a Python expression, gaps included; empty where there is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else GAP for part in node.values)
    if isinstance(node, ast.BinOp):
        return (text_of(node.left) or GAP) + ("" if isinstance(node.op, ast.Mod) else text_of(node.right) or GAP)
    return ""


def of_python():
    for path in sorted((ROOT / "python" / "tamis").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = text_of(node.exc.args[0])
                if re.search(r"[a-z]{3}", message):
                    yield "python", message, str(path.relative_to(ROOT))


@cache
def all_messages():
    """{kind: sorted messages}."""
    found = {kind: set() for kind in KINDS}
    for kind, message, _ in (*of_core(), *of_python()):
        found.setdefault(kind, set()).add(" ".join(message.split()))
    return {kind: sorted(messages, key=lambda one: one.strip(GAP + ": ").lower()) for kind, messages in found.items()}


def find(line, messages=None):
    """The listed messages that a printed line may be an instance of."""
    listed = messages or [one for kind in all_messages().values() for one in kind]
    return [one for one in listed if re.search(".*?".join(map(re.escape, one.split(GAP))), line)]


def page():
    out = ["# Messages", "",
           f"Every message that an error can carry. {GAP} stands for what varies: a name, a number, a position.",
           "The search field of this site finds a message by any words of it.",
           "An error is one line: where it occurred, what was found, what is needed.", ""]
    for kind, messages in all_messages().items():
        if kind in KINDS:
            out += [f"## {KINDS[kind][0]}", "", KINDS[kind][1], ""]
            for message in messages:  # a heading each, so that search and links lead to it
                out += ["#### `" + message.replace("`", "'") + "`", ""]
    return "\n".join(out)
