"""Markdown pages with commands and what they print: command blocks, their tags, and the marks of their output.

A command block is fenced, of a shell, and names its tag after the language:

    ```sh ci
    build/release/bin/abut run assets/scenes/box_stack.toml
    ```

Tags: `ci` is run by every test run, `nightly` takes minutes or needs a benchmark program, `manual` is never run by a
test (it installs something, opens a window, or is a pattern to fill in).

What a command prints is a fenced block or a table further down the page, with a mark directly above it:

    <!-- output: rtol 0.05; "median error" factor 10; ignore "wall time", "state hash" -->

It is compared with the standard output of the last command block above it. Options, separated by semicolons:

    rtol X, atol X      tolerances of all numbers; rtol is 0.01 without it. One unit of the last decimal that is on the
                        page is always allowed; a whole number has no such unit
    factor X            all numbers: printed/page within 1/X and X (both may be 0)
    "NAME" rtol X       the same three for one column of a table, or for lines that begin with NAME
    ignore "A", "B"     columns, or lines, whose numbers are not compared (that they are there is)
    excerpt             the page shows some of the rows, or lines, that are printed
    optional "A", "B"   columns of a table that a build without an optional library does not print
    optional            the same of a whole table

A table of figures without such a mark is an error, so that no figure lacks the command that prints it. Tables of
definitions are none; where it is not plain that a table is one, a mark above it says what it is:

    <!-- no output: sizes of the assets -->
"""

import re
from dataclasses import dataclass, field

TAGS = ("ci", "nightly", "manual")
SHELLS = {"sh", "bash", "shell", "console", "zsh", "shell-session"}


class PageError(Exception):
    """A page that does not follow the rules above; the text begins with page and line."""


@dataclass
class Tolerance:
    rtol: float | None = None
    atol: float | None = None
    factor: float | None = None


@dataclass
class Options:
    """What is said in the mark of an output."""

    default: Tolerance = field(default_factory=Tolerance)
    named: dict[str, Tolerance] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    excerpt: bool = False
    optional: bool = False
    optional_columns: set[str] = field(default_factory=set)

    def tolerance(self, name):
        return self.named.get(name, self.default)

    def names(self):
        return self.ignored | self.optional_columns | set(self.named)


@dataclass
class Output:
    """Lines [first, last) of a page that show what a command prints."""

    line: int
    first: int
    last: int
    is_table: bool
    options: Options


@dataclass
class Commands:
    """A command block; `line` is that of its fence, counted from 1."""

    line: int
    tag: str
    text: str
    outputs: list[Output] = field(default_factory=list)


_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(.*?)\s*$")
_NO_OUTPUT = re.compile(r"^\s*<!--\s*no output:\s*\S.*-->\s*$")
_FIGURE = re.compile(r"[-+<>]?\s*\d")
_COLUMNS_OF_DEFINITIONS = {"default", "allowed"}
_MARK = re.compile(r"^\s*<!--\s*output\s*(?::\s*(.*?))?\s*-->\s*$")
_SETTING = re.compile(r'^(?:"([^"]+)"\s+)?((?:(?:rtol|atol|factor)\s+\S+\s*)+)$')


def parse_options(text, where):
    options = Options()
    for part in filter(None, (p.strip() for p in (text or "").split(";"))):
        setting = _SETTING.match(part)
        if part == "excerpt":
            options.excerpt = True
        elif part == "optional":
            options.optional = True
        elif part.startswith(("ignore ", "optional ")):
            names, word = re.findall(r'"([^"]+)"', part), part.split()[0]
            if not names or re.sub(r'"[^"]+"|[\s,]', "", part) != word:
                raise PageError(f'{where}: expected {word} "NAME", ..., found: {part}')
            (options.ignored if word == "ignore" else options.optional_columns).update(names)
        elif setting:
            tolerance = options.named.setdefault(setting[1], Tolerance()) if setting[1] else options.default
            words = setting[2].split()
            for kind, value in zip(words[::2], words[1::2]):
                try:
                    setattr(tolerance, kind, float(value))
                except ValueError:
                    raise PageError(f"{where}: {kind} is no number: {value}") from None
        else:
            raise PageError(f"{where}: unknown option of an output: {part}")
    return options


def is_table_line(line):
    return line.lstrip().startswith("|")


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _end_of_table(lines, i):
    while i < len(lines) and is_table_line(lines[i]):
        i += 1
    return i


def _shows_figures(lines):
    """Whether at least half of the cells of a column, not the first, begin with a number."""
    header, rows = cells_of(lines[0]), [cells_of(line) for line in lines[2:]]
    for k, name in enumerate(header):
        cells = [row[k] for row in rows if k < len(row)]
        figures = sum(bool(_FIGURE.match(cell)) for cell in cells)
        if k > 0 and name not in _COLUMNS_OF_DEFINITIONS and figures > 0 and 2 * figures >= len(cells):
            return True
    return False


def parse_page(name, text):
    """The command blocks of a page, in order, with their outputs. Raises PageError."""
    lines = text.splitlines()
    blocks = []
    i = 0
    while i < len(lines):
        where = f"{name}:{i + 1}"
        fence, mark = _FENCE.match(lines[i]), _MARK.match(lines[i])
        if fence:
            end = _end_of_fence(lines, i, fence, where)
            words = fence[3].split()
            if words and words[0].lower() in SHELLS:
                if len(words) != 2 or words[1] not in TAGS:
                    raise PageError(f"{where}: a command block needs one tag of {', '.join(TAGS)}, as in ```sh ci")
                blocks.append(Commands(i + 1, words[1], "\n".join(lines[i + 1:end]) + "\n"))
            i = end + 1
        elif mark:
            if not blocks:
                raise PageError(f"{where}: an output without a command block above it")
            output = _read_output(lines, i, parse_options(mark[1], where), where)
            blocks[-1].outputs.append(output)
            i = output.last + (0 if output.is_table else 1)
        elif "<!-- output" in lines[i]:
            raise PageError(f"{where}: the mark of an output stands alone on its line")
        elif is_table_line(lines[i]):
            last = _end_of_table(lines, i)
            if _shows_figures(lines[i:last]) and not _NO_OUTPUT.match(lines[i - 1]):
                raise PageError(f"{where}: a table of figures without the mark of an output")
            i = last
        else:
            i += 1
    return blocks


def _end_of_fence(lines, i, fence, where):
    for end in range(i + 1, len(lines)):
        closing = _FENCE.match(lines[end])
        if closing and closing[3] == "" and closing[2].startswith(fence[2]):
            return end
    raise PageError(f"{where}: a fenced block without an end")


def _read_output(lines, i, options, where):
    first = i + 1
    while first < len(lines) and not lines[first].strip():
        first += 1
    fence = _FENCE.match(lines[first]) if first < len(lines) else None
    if fence and not fence[3].split()[:1] in ([s] for s in SHELLS):
        return Output(i + 1, first + 1, _end_of_fence(lines, first, fence, where), False, options)
    last = _end_of_table(lines, first)
    if last - first < 3:
        raise PageError(f"{where}: below the mark of an output stands a fenced block or a table")
    return Output(i + 1, first, last, True, options)
