"""Reference pages: the commands from their own descriptions, the methods from the registry, Python from its docstrings."""

import inspect
import json
import re
import subprocess


def printed(command, *words):
    return subprocess.run([command, *words], check=True, capture_output=True, text=True).stdout


def command_pages(command):
    """{name: Markdown} of every command."""
    names = re.findall(r"^\.BR tamis\\-(\w+) \(1\)", printed(command, "manual"), flags=re.M)
    return {name: printed(command, "manual", name, "--markdown") for name in names}


def cell(text):
    text = re.sub(r"([|*_\[\]`\\])", r"\\\1", str(text))
    return text.replace("<", "&lt;").replace(">", "&gt;")


def methods_page(command):
    out = ["# Methods and options", "", "What `tamis methods NAME` prints, and the names that Python uses.", ""]
    for method in json.loads(printed(command, "methods", "--json")):
        out += [f"## {method['name']}", "", f"{method['summary']}. In Python `tamis.{method['python_name']}`.", ""]
        out += ["    " + line for line in method["formula"].splitlines()] + ["", f"Reference: {cell(method['reference'])}", ""]
        if method["options"]:
            out += ["| option | Python | range | default | meaning |", "|---|---|---|---|---|"]
        for option in method["options"]:
            names = f"`--{option['name']}` | `{option['python_name']}`"
            out.append(f"| {names} | {cell(option['range'])} | {cell(option['default'])} | {cell(option['help'])} |")
        out.append("")
    return "\n".join(out)


def signature(thing):
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "()"
    text = str(found)
    return text if len(text) < 60 else "(\n" + "".join(f"    {one},\n" for one in found.parameters.values()) + ")"


def numpydoc(text):
    """A docstring in NumPy's style as Markdown: sections become headings, their entries a list."""
    out, listed = [], False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", line):
            continue
        if re.fullmatch(r"-{3,}", after):
            listed = line in ("Parameters", "Attributes", "Returns", "Raises", "Yields")
            out += ["", f"**{line}**", ""]
        elif listed and line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out.append(f"- `{name}`" + (f": {cell(kind)}  " if kind else "  "))  # two spaces: a new line
        elif listed and line.strip():
            out.append("  " + cell(line.strip()))
        else:
            out.append(line.replace("``", "`"))
    return "\n".join(out)


def entry(name, thing, level):
    lines = [f"{'#' * level} {name}", ""]
    if callable(thing):
        lines += ["```python", f"{name}{signature(thing)}", "```", ""]
    return "\n".join([*lines, numpydoc(inspect.getdoc(thing) or ""), ""])


def python_page():
    import tamis

    out = ["# Python package", "", "From the docstrings, as `help(tamis.UFCM)` shows them.",
           "[The guide](../python.md) has examples.", ""]
    for name in tamis.__all__:
        thing = getattr(tamis, name)
        if name == "__version__":
            continue
        out.append(entry(f"tamis.{name}", thing, 2))
        if inspect.ismodule(thing):
            public = getattr(thing, "__all__", None) or [
                one for one, value in vars(thing).items()
                if inspect.isfunction(value) and value.__module__ == thing.__name__ and not one.startswith("_")
            ]
            out += [entry(f"tamis.{name}.{one}", getattr(thing, one), 3) for one in public]
    return "\n".join(out)
