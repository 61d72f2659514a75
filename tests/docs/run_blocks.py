#!/usr/bin/env python3
"""Runs the commands on the pages and compares what they print with what the pages show; see pages.py for the marks.

    tests/docs/run_blocks.py                          # every page, blocks tagged ci
    tests/docs/run_blocks.py --tag nightly            # what takes minutes; builds the benchmark programs it needs
    tests/docs/run_blocks.py README.md --update       # brings the outputs on a page up to date

Commands run by bash in a copy of the source tree, in their order, with an empty out/ and the build folder (--build)
as build/release; `cmake --preset ...` and `cmake --build --preset ...` mean that build folder too. Exit codes: 0 all
agree, 1 something differs or fails, 2 a page or an argument is wrong.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True                                           # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).parent))
from compare import compare_table, compare_text, tables_in  # noqa: E402
from pages import TAGS, PageError, parse_page  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
OTHER_PAGES = ("README.md", "CONTRIBUTING.md", "tests/benchmarks/README.md", "assets/README.md")
NOT_COPIED = {".git", "build", "out"}
PRESETS_MEAN_THE_BUILD_FOLDER = """
cmake() {
  if [[ ${1:-} == --preset ]]; then return; fi
  if [[ ${1:-} != --build || ${2:-} != --preset ]]; then command cmake "$@"; return; fi
  command cmake --build "$ABUT_DOCS_BUILD" "${@:4}" >&2
}
"""


def all_pages(source):
    """Every page whose command blocks have tags, relative to the source tree."""
    pages = [source / name for name in OTHER_PAGES] + sorted((source / "docs").glob("*.md"))
    return [page.relative_to(source) for page in pages if page.exists()]


class Workplace:
    """A copy of the source tree in which commands run."""

    def __init__(self, source, build):
        self.build = Path(build).resolve()
        self.folder = Path(tempfile.mkdtemp(prefix="abut_docs_"))
        self.root = self.folder / "abut"
        shutil.copytree(source, self.root, symlinks=True,
                        ignore=lambda folder, names: NOT_COPIED & set(names) if Path(folder) == source else set())
        (self.root / "build").mkdir()
        (self.root / "build" / "release").symlink_to(self.build)
        (self.root / "out").mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, text):
        """(exit code, stdout, stderr) of a block, which ends at its first command that fails."""
        environment = os.environ | {"LC_ALL": "C.UTF-8", "ABUT_DOCS_BUILD": str(self.build)}
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", PRESETS_MEAN_THE_BUILD_FOLDER + text], cwd=self.root,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, check=False)
        return done.returncode, done.stdout, done.stderr


def check_page(page, text, blocks, workplace, report):
    """Runs blocks of a page. Returns whether all is well, and the page as it should be."""
    lines = text.splitlines()
    well, changes = True, []
    for block in blocks:
        start = time.monotonic()
        code, stdout, stderr = workplace.run(block.text)
        print(f"{page}:{block.line}: {time.monotonic() - start:.1f} s", flush=True)
        if code != 0:
            report(f"{page}:{block.line}: exit code {code}\n{block.text}{stdout[-2000:]}{stderr[-4000:]}")
            well = False
            continue
        printed = stdout.splitlines()
        tables = tables_in(printed)
        for output in block.outputs:
            shown = lines[output.first:output.last]
            result = compare_table(shown, tables, output.options) if output.is_table \
                else compare_text(shown, printed, output.options)
            for problem in result.problems:
                report(f"{page}:{output.line}: {problem}")
            well = well and not result.problems
            changes.append((output, result.lines))
    for output, new in reversed(changes):
        lines[output.first:output.last] = new
    return well, "\n".join(lines) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Runs the commands on the pages and compares what they print.")
    parser.add_argument("pages", nargs="*", help="relative to the source tree; default: every page")
    parser.add_argument("--tag", default="ci", choices=[tag for tag in TAGS if tag != "manual"])
    parser.add_argument("--match", default="", metavar="TEXT", help="only blocks whose commands contain this")
    parser.add_argument("--source", type=Path, default=SOURCE, help="the source tree")
    parser.add_argument("--build", type=Path, help="the build folder; default: build/release of the source tree")
    parser.add_argument("--update", action="store_true", help="write what is printed into the pages")
    parser.add_argument("--check-tags", action="store_true", help="only read the pages: tags and marks")
    options = parser.parse_args(arguments)
    source = options.source.resolve()
    well = True

    def report(text):
        print(text, file=sys.stderr)

    try:
        pages = [Path(page) for page in options.pages] or all_pages(source)
        texts = {page: (source / page).read_text(encoding="utf-8") for page in pages}
        blocks = {}
        for page, text in texts.items():
            try:
                blocks[page] = parse_page(page, text)
            except PageError as error:
                report(f"run_blocks.py: {error}")
        if len(blocks) < len(texts):
            return 2
        if options.check_tags:
            return 0
        build = options.build or source / "build" / "release"
        if not build.is_dir():
            raise PageError(f"no build folder {build}: cmake --preset release")
        chosen = {page: [block for block in blocks[page] if block.tag == options.tag and options.match in block.text]
                  for page in pages}
        with Workplace(source, build) as workplace:
            for page, text in texts.items():
                page_well, new = check_page(page, text, chosen[page], workplace, report)
                well = well and page_well
                if options.update and new != text:
                    (source / page).write_text(new, encoding="utf-8")
    except (PageError, OSError) as error:
        report(f"run_blocks.py: {error}")
        return 2
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
