"""Every message that an error can carry, taken from the sources: what varies is written as an ellipsis."""

import ast
import os
import re
from functools import cache
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GAP = "…"
LEAST_LETTERS = 12  # of text that does not vary: less would be found in any line
KINDS = {  # code -> heading, what it means
    "usage": ("Usage (exit code 2, `ValueError`)", "An option or an argument is not allowed; nothing was read."),
    "bad_data": ("Bad data (exit code 3, `ValueError`)", "The table is not what it should be; the message names the place."),
    "resources": ("Memory (exit code 4, `MemoryError`)", "The run does not fit into the limit."),
    "io": ("Files (exit code 5, `OSError`)", "A file could not be read or written."),
    "not_converged": ("Not converged (exit code 6)", "Only with `--strict`; otherwise a warning."),
    "python": ("Raised in Python", "By the package itself, before or after the core is called."),
    "parts": ("Warnings, and parts of longer messages", "What a warning says, or an error after it has named the place."),
}
CALL = re.compile(r"\b(Error|NoVariation|fail|require\w*|wrong|message|concat)\(")
MADE = re.compile(r"\bMessage (?:\w+::)*\w+\([^;{}]*\)[^;{}()]*\{")  # a function that puts a message together
WRAPPER = re.compile(r"\b(\w+)\((?:[^(){};]*, )?const char\* (\w+)\)[^;{}()]*\{\s*(?=fail\(|require\()")
PARSED = re.compile(r"return (ArgumentMismatch|ConversionError)\(")  # what the parser of the command line says
WORDED = re.compile(r'\breturn (?=[^;]*"[^"]* )')  # strings put together with +
SYSTEM = ("No such file or directory", "Permission denied", "Is a directory", "Not a directory", "No space left on device",
          "Read-only file system", "Too many open files", "Input/output error", "File name too long")
STRING = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
TALKING = (("tamis", "base"), ("tamis", "data"), ("tamis", "graph"), ("tamis", "run"), ("tamis", "select"))  # by concat
NOT_SAID = re.compile(r"[{%]|\w=" + GAP)  # what is written to files
NAMED = re.compile(r'(?:MethodName|OptionName)\{"([^"]*)"\}')
FLAG = re.compile(r'Flag\{"([^"]*)"(,.*)?\}', flags=re.S)


def split(text, start=0, signs=",", ends=")]};"):
    """(pieces, their signs, the end): source from `start` to where the enclosing bracket or statement ends, split at `signs`
    outside of brackets and strings."""
    depth, piece, pieces, found, at = 0, "", [], [], start
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
        if letter in ends and depth == 0:
            break
        depth += (letter in "([{") - (letter in ")]}")
        if letter in signs and depth == 0 and text[at - 1 : at + 2] not in (" ->", ":::") and "::" not in text[at - 1 : at + 2]:
            pieces.append(piece)
            found.append(letter)
            piece = ""
        else:
            piece += letter
        at += 1
    return [*pieces, piece], found, at


def joined(texts):
    """All ways to put the texts together, a list of alternatives each."""
    if len([one for one in texts if len(one) > 1]) > 2:
        texts = [one if len(one) == 1 else [GAP] for one in texts]
    return [re.sub(GAP + "{2,}", GAP, "".join(way)) for way in product(*texts)]


def choice(first, second):
    """One of two texts, as "value" or "values": what both begin with, if that is a word; else both."""
    if GAP in (first, second) or "" in (first, second):
        return [GAP]
    same = os.path.commonprefix([first, second])
    return [same + GAP] if len(same) >= 4 else [first, second]


def spoken(source):
    """What an expression says: its alternatives, a gap for everything that is not text."""
    source = source.strip()
    if STRING.fullmatch(source):
        return ["".join(ast.literal_eval(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', source))]
    named, flag = NAMED.fullmatch(source), FLAG.fullmatch(source)
    if named or flag:
        return [named.group(1) if named else "--" + flag.group(1) + (" " + GAP if flag.group(2) else "")]
    call = re.match(r"(?:message|concat)\(", source)
    if call:
        arguments, _, end = split(source, call.end())
        if end == len(source) - 1:
            return joined([spoken(one) for one in arguments])
    pieces, signs, _ = split(source, signs="?:")
    if signs == ["?", ":"]:
        return [way for one in spoken(pieces[1]) for other in spoken(pieces[2]) for way in choice(one, other)]
    pieces, signs, _ = split(source, signs="+")
    if signs and any('"' in piece for piece in pieces):
        return joined([spoken(piece) for piece in pieces])
    return [GAP]


def of_call(name, arguments):
    """(kind, messages) of a call that fails or puts words together."""
    if name in ("message", "concat"):
        return "parts", joined([spoken(one) for one in arguments])
    if name in ("NoVariation", "wrong"):
        return "bad_data", joined([[GAP + ": " if name == "wrong" else ""], *map(spoken, arguments)])
    for i, argument in enumerate(arguments):
        code = re.findall(r"ErrorCode::(\w+)", argument)
        if code:
            return code[0], joined([spoken(one) for one in arguments[i + 1 :]])
    return "parts", []


def of_wrappers(text):
    """What is said by functions that add the place to a text that they are given."""
    for wrapper in WRAPPER.finditer(text):
        inside = re.compile(r"(fail|require)\(").match(text, wrapper.end())
        arguments = split(text, inside.end())[0]
        kind, _ = of_call(inside.group(1), arguments)
        for call in re.finditer(rf"\b{wrapper.group(1)}\(", text):
            for literal in re.findall(r'"(?:[^"\\]|\\.)*"', "".join(split(text, call.end())[0])):
                filled = [literal if one.strip() == wrapper.group(2) else one for one in arguments]
                yield kind, of_call(inside.group(1), filled)[1]


def of_source(text, path):
    """(kind, messages) of a C++ source."""
    for match in CALL.finditer(text):
        kind, messages = of_call(match.group(1), split(text, match.end())[0])
        if match.group(1) != "concat":
            yield kind, messages
        elif path.parts[:2] in TALKING:
            yield kind, [one for one in messages if not NOT_SAID.search(one)]
    for function in MADE.finditer(text):
        end = split(text, function.end(), signs="", ends="}")[2]
        for statement in re.finditer(r"\breturn ", text[function.end() : end]):
            yield "parts", spoken(split(text, function.end() + statement.end())[0][0])
    yield from of_wrappers(text)
    if path.name == "help.cpp":
        for statement in WORDED.finditer(text):
            yield "usage", spoken(split(text, statement.end())[0][0])


def of_core():
    """(kind, message, file) of every message in the C++ sources."""
    for path in sorted([*ROOT.glob("tamis/**/*.cpp"), *ROOT.glob("tamis/**/*.h"), *ROOT.glob("app/**/*.cpp")]):
        text = re.sub(r"(?m)(?<!:)//.*$", "", path.read_text(encoding="utf-8"))
        file = path.relative_to(ROOT)
        for kind, messages in of_source(text, file):
            yield from ((kind, one, str(file)) for one in messages if kind != "internal")
    parser = ROOT / "third_party" / "CLI11" / "include" / "CLI" / "Error.hpp"
    text = parser.read_text(encoding="utf-8")
    for match in PARSED.finditer(text):
        yield from (("usage", one, "CLI11") for one in spoken(split(text, match.end())[0][0]))
    for reason in SYSTEM:
        yield "io", f"{GAP}: {reason}", "the system"


def of_options():
    """What is said of a value that is out of the range of an option."""
    import tamis

    for method in tamis._core.methods():
        for option in method["options"]:
            yield "usage", f"{GAP}: {option['name']} = {GAP}, need {option['range']}", "the registry"


def text_of(node):
    """The text of a Python expression, gaps included; empty where there is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else GAP for part in node.values)
    if isinstance(node, ast.BinOp):
        return (text_of(node.left) or GAP) + ("" if isinstance(node.op, ast.Mod) else text_of(node.right) or GAP)
    if isinstance(node, ast.BoolOp):
        return text_of(node.values[-1])
    return ""


def name_of(function):
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def said_by(node):
    """What a call or a statement of Python says where something is wrong."""
    if isinstance(node, ast.Call) and node.args:
        name = name_of(node.func)
        if re.search(r"(Error|Reader|Large|Name|Warning)$", name) and name[0].isupper():
            return "".join(text_of(one) or GAP for one in node.args)
        if re.search(r"refuse|wrong|exit$", name):
            return f"{GAP}: " + "".join(text_of(one) or GAP for one in node.args)
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
        return text_of(node.exc.args[0])
    if isinstance(node, ast.Return):
        return text_of(node.value)
    return ""


def of_python():
    for path in sorted((ROOT / "python" / "tamis").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        whole = {id(node) for top in ast.walk(tree) if isinstance(top, ast.FunctionDef) and
                 re.search(r"explain|missing|refus|wrong|complaint|reason", top.name)
                 for node in ast.walk(top) if isinstance(node, ast.Return)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Return) or id(node) in whole:
                yield "python", said_by(node), str(path.relative_to(ROOT))


def letters(message):
    """How much of a message does not vary."""
    return len(re.sub(r"[\s" + GAP + "]", "", message))


@cache
def all_messages():
    """{kind: sorted messages}."""
    found = {kind: set() for kind in KINDS}
    for kind, message, _ in (*of_core(), *of_options(), *of_python()):
        message = re.sub(GAP + "{2,}", GAP, " ".join(message.split()))
        if letters(message) >= LEAST_LETTERS and re.search(r"[a-z]{3}", message):
            found.setdefault(kind, set()).add(message)
    for kind in KINDS:
        found[kind] -= {one[3:] for one in found[kind] if one.startswith(GAP + ": ")}
        found["parts"] -= found[kind] if kind != "parts" else set()
    return {kind: sorted(messages, key=lambda one: one.strip(GAP + ": ").lower()) for kind, messages in found.items()}


def find(line, messages=None):
    """The listed messages that a printed line may be an instance of."""
    listed = messages or [one for kind in all_messages().values() for one in kind]
    return [one for one in listed
            if letters(one) >= LEAST_LETTERS and re.search(".*?".join(map(re.escape, one.split(GAP))), line)]


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
