"""Compares what a page shows with what a command printed, number by number, and brings the page up to date."""

import math
import re
from dataclasses import dataclass

from pages import cells_of, is_table_line

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w]*\d)")
_HASH = re.compile(r"\b[0-9a-f]{16}\b")
_DEFAULT_RTOL = 1e-2


@dataclass
class Comparison:
    """`problems`: a line of text each. `lines`: the page's lines as they would have to be."""

    problems: list[str]
    lines: list[str]


def numbers_agree(page, printed, tolerance):
    """Whether two numbers, given as text, agree; a unit of the page's last decimal is always allowed."""
    a, b = float(page), float(printed)
    if tolerance.factor is not None:
        if a == 0.0 or b == 0.0 or math.copysign(1.0, a) != math.copysign(1.0, b):
            return a == b
        return 1.0 / tolerance.factor <= b / a <= tolerance.factor
    rtol = _DEFAULT_RTOL if tolerance.rtol is None else tolerance.rtol
    allowed = max(rtol * max(abs(a), abs(b)), tolerance.atol or 0.0, _unit_in_last_place(page) * (1.0 + 1e-9))
    return abs(a - b) <= allowed


def _unit_in_last_place(text):
    """Of a number with decimals or an exponent; 0 of a whole number, which has to agree by itself."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if decimals == 0 and not exponent:
        return 0.0
    return 10.0 ** (int(exponent or 0) - decimals)


def _skeleton(text):
    """A text with its numbers taken out and its blanks made one."""
    return " ".join(_NUMBER.sub("#", _HASH.sub("#", text)).split())


def texts_agree(page, printed, tolerance):
    """None, or what differs first."""
    if _skeleton(page) != _skeleton(printed):
        return f"'{page.strip()}' is now '{printed.strip()}'"
    if _HASH.findall(page) != _HASH.findall(printed):
        return f"'{page.strip()}' is now '{printed.strip()}'"
    pairs = zip(_NUMBER.findall(_HASH.sub("", page)), _NUMBER.findall(_HASH.sub("", printed)))
    for a, b in pairs:
        if not numbers_agree(a, b, tolerance):
            return f"{a} is now {b}"
    return None


# Tables
# ----------------------------------------------------------------------------------------------------------------


@dataclass
class Table:
    header: list[str]
    rows: list[list[str]]
    taken: bool = False


def tables_in(lines):
    tables, i = [], 0
    while i < len(lines):
        first = i
        while i < len(lines) and is_table_line(lines[i]):
            i += 1
        if i - first >= 2 and set(lines[first + 1]) <= set("|-: "):
            tables.append(Table(cells_of(lines[first]), [cells_of(line) for line in lines[first + 2:i]]))
        i = max(i, first + 1)
    return tables


def _columns(header, of, optional):
    """For each name of `header` its place in `of`, each place once, None for an optional one that is missing; None where
    another one is missing."""
    places, free = [], list(range(len(of)))
    for name in header:
        place = next((k for k in free if of[k] == name), None)
        if place is not None:
            free.remove(place)
        elif name not in optional:
            return None
        places.append(place)
    return places


def _unknown_names(options, known, what):
    unknown = sorted(options.names() - set(known))
    return [f"the mark of the output names '{name}', which is no {what}" for name in unknown]


def compare_table(page_lines, printed_tables, options):
    """`printed_tables` are used up: tables of equal header are found one after the other."""
    page = tables_in(page_lines)[0]
    optional = options.optional_columns
    found = next((t for t in printed_tables if not t.taken and _columns(page.header, t.header, optional) is not None), None)
    if found is None and options.optional:
        return Comparison([], page_lines)
    if found is None:
        return Comparison([f"no table with the columns {', '.join(page.header)} is printed"], page_lines)
    found.taken = True
    places = _columns(page.header, found.header, optional)
    printed = [[None if k is None else row[k] if k < len(row) else "" for k in places] for row in found.rows]
    problems = _unknown_names(options, page.header, "column")
    if options.excerpt:
        printed = _rows_shown(page, printed, problems, options)
    elif len(printed) != len(page.rows):
        problems.append(f"{len(page.rows)} rows on the page, {len(printed)} are printed")
    for row, now in zip(page.rows, printed):
        if now is None:
            continue
        for name, cell, cell_now in zip(page.header, row, now):
            if name in options.ignored or cell_now is None:
                continue
            difference = texts_agree(cell, cell_now, options.tolerance(name))
            if difference:
                problems.append(f"row '{row[0]}', column '{name}': {difference}")
    rows = [old if now is None else now for old, now in zip(page.rows, printed)] if options.excerpt else printed
    olds = page.rows + [[""] * len(places)] * len(rows)
    rows = [[cell if now is None else now for cell, now in zip(old, row)] for old, row in zip(olds, rows)]
    return Comparison(problems, page_lines[:2] + ["| " + " | ".join(row) + " |" for row in rows])


def _rows_shown(page, printed, problems, options):
    """The printed row for each of the page's: the next one with the same first cell."""
    rows, at = [], 0
    for row in page.rows:
        same = (k for k in range(at, len(printed)) if not texts_agree(row[0], printed[k][0], options.tolerance("")))
        k = next(same, None)
        if k is None:
            problems.append(f"row '{row[0]}' is not printed")
            rows.append(None)
        else:
            rows.append(printed[k])
            at = k + 1
    return rows


# Text
# ----------------------------------------------------------------------------------------------------------------


def _label(line):
    """What a line begins with, up to the first two blanks, number or colon."""
    return re.split(r"\s{2,}|:|\s[-+]?\d", line.strip())[0]


def compare_text(page_lines, printed_lines, options):
    printed_lines = [line.rstrip() for line in printed_lines]
    while printed_lines and not printed_lines[-1]:
        printed_lines.pop()
    problems, known = [], set()
    if options.excerpt:
        printed = _lines_shown(page_lines, printed_lines, problems)
    else:
        printed = printed_lines
        if len(printed) != len(page_lines):
            problems.append(f"{len(page_lines)} lines on the page, {len(printed)} are printed")
    header = []
    for i, (line, now) in enumerate(zip(page_lines, printed)):
        if now is None:
            continue
        if re.fullmatch(r"\s*-{5,}", line):                       # below the names of the columns of a table
            header = re.split(r"\s{2,}", page_lines[i - 1].strip())
            known.update(header)
            continue
        cells, cells_now = (re.split(r"\s{2,}", text.strip()) for text in (line, now))
        label = _label(line)
        known.add(label)
        if header and len(cells) == len(header) == len(cells_now):
            named = list(zip(header, cells, cells_now))
        else:
            header, named = [], [(label, line, now)]
        for name, cell, cell_now in named:
            if name in options.ignored:
                if _label(line) != _label(now):
                    problems.append(f"'{line.strip()}' is now '{now.strip()}'")
                continue
            difference = texts_agree(cell, cell_now, options.tolerance(name))
            if difference:
                problems.append(f"{label}{'' if name == label else ', ' + name}: {difference}")
    problems += _unknown_names(options, known, "column or line")
    lines = [old if now is None else now for old, now in zip(page_lines, printed)] if options.excerpt else printed
    return Comparison(problems, lines)


def _lines_shown(page_lines, printed_lines, problems):
    """The printed line for each of the page's: the next one that differs by its numbers alone."""
    lines, at = [], 0
    for line in page_lines:
        k = next((k for k in range(at, len(printed_lines)) if _skeleton(line) == _skeleton(printed_lines[k])), None)
        if k is None:
            problems.append(f"the line '{line.strip()}' is not printed")
            lines.append(None)
        else:
            lines.append(printed_lines[k])
            at = k + 1
    return lines
