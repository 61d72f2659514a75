"""Tests of the runner of the pages' commands: what must not go by unseen is seen."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True                                           # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).parent))
import run_blocks  # noqa: E402
from compare import compare_text  # noqa: E402
from pages import Options  # noqa: E402

PAGE = """# A page

```sh ci
printf '%s\\n' 'steps    500' 'wall time  0.02 s' 'energy   6.6352 J' 'hash     a74e85b41b078861'
```

<!-- output: ignore "wall time", "hash" -->
```
steps    500
wall time  0.07 s
energy   6.6352 J
hash     0123456789abcdef
```

```sh ci
mkdir -p out/a && cd out/a
echo '| law | error | ms |'; echo '| --- | --- | --- |'
echo '| soft | 1.25 % | 3 |'; echo '| hard | 4.0e-07 | 9 |'
```

<!-- output: "error" rtol 0.05; ignore "ms" -->

| law | error | ms |
| --- | --- | --- |
| soft | 1.25 % | 1 |
| hard | 4.1e-07 | 1 |

```sh nightly
echo "a 1"
```

<!-- output -->
```
a 1
```
"""


class RunBlocks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name)
        (self.source / "build" / "release").mkdir(parents=True)

    def run_page(self, page, *arguments):
        """(exit code, what was reported) for a page."""
        (self.source / "README.md").write_text(page, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_blocks.main(["--source", str(self.source), *arguments])
        return code, err.getvalue()

    def expect(self, old, new, code, message, *arguments):
        """What a page with `old` replaced by `new` ends with, and part of what is said about it."""
        self.assertIn(old, PAGE)
        ended, reported = self.run_page(PAGE.replace(old, new), *arguments)
        self.assertEqual((ended, message in reported), (code, True), reported)

    def test_a_page_that_is_right_passes(self):
        self.assertEqual(self.run_page(PAGE), (0, ""))
        self.assertEqual(self.run_page(PAGE, "--tag", "nightly"), (0, ""))

    def test_a_changed_number_is_caught(self):
        self.expect("energy   6.6352 J\nhash ", "energy   6.8352 J\nhash ", 1,
                    "README.md:7: energy: 6.8352 is now 6.6352")
        self.expect("| soft | 1.25 % | 1 |", "| soft | 1.35 % | 1 |", 1, "row 'soft', column 'error': 1.35 is now 1.25")
        self.expect("steps    500\nwall", "steps    510\nwall", 1, "510 is now 500")
        self.expect('echo "a 1"', 'echo "a 0"', 1, "1 is now 0", "--tag", "nightly")

    def test_changed_words_are_caught(self):
        self.expect("energy   6.6352 J\nhash ", "energy   6.6352 mJ\nhash ", 1, "is now 'energy   6.6352 J'")
        self.expect("| hard | 4.1e-07 | 1 |", "| firm | 4.1e-07 | 1 |", 1, "'firm' is now 'hard'")

    def test_a_hash_is_compared_unless_it_is_ignored(self):
        self.expect(', "hash"', "", 1, "0123456789abcdef")

    def test_missing_rows_and_lines_are_caught(self):
        self.expect("| hard | 4.1e-07 | 1 |\n", "", 1, "1 rows on the page, 2 are printed")
        self.expect("'energy   6.6352 J' ", "", 1, "4 lines on the page, 3 are printed")
        self.expect("| law | error | ms |\n", "| law | error | s |\n", 1, "no table with the columns law, error, s")

    def test_an_excerpt_shows_some_rows_in_their_order(self):
        some = PAGE.replace("| soft | 1.25 % | 1 |\n", "").replace('"error" rtol', 'excerpt; "error" rtol')
        self.assertEqual(self.run_page(some), (0, ""))
        code, reported = self.run_page(some.replace("| hard | 4.1e-07", "| firm | 4.1e-07"))
        self.assertEqual((code, "row 'firm' is not printed" in reported), (1, True), reported)

    def test_optional_columns_and_tables_may_be_missing(self):
        mark, row = '<!-- output: "error" rtol 0.05; ', "| soft | 1.25 % | 1 |"
        wider = PAGE.replace("| law | error | ms |\n| ---", "| law | peer | error | ms |\n| --- | ---")
        wider = wider.replace(row, "| soft | 7 | 1.25 % | 1 |").replace("| hard | 4.1e", "| hard | 8 | 4.1e")
        self.assertEqual(self.run_page(wider)[0], 1)
        wider = wider.replace(mark, mark + 'optional "peer"; ')
        self.assertEqual(self.run_page(wider), (0, ""))
        self.run_page(wider.replace("| soft | 7 | 1.25 %", "| soft | 7 | 2.5 %"), "--update")
        self.assertIn("| soft | 7 | 1.25 % | 3 |", (self.source / "README.md").read_text(encoding="utf-8"))
        shown = PAGE.replace(mark, mark + 'optional "error"; ').replace(row, "| soft | 2.25 % | 1 |")
        self.assertIn("2.25 is now 1.25", self.run_page(shown)[1])
        other = PAGE.replace("| law | error | ms |\n", "| law | error | s |\n").replace('; ignore "ms"', "")
        self.assertEqual(self.run_page(other)[0], 1)
        self.assertEqual(self.run_page(other.replace(mark[:-2], mark + "optional")), (0, ""))

    def test_a_block_without_a_tag_is_caught(self):
        self.expect("```sh ci\nmkdir", "```sh\nmkdir", 2, "README.md:15: a command block needs one tag")
        self.expect("```sh ci\nmkdir", "```bash often\nmkdir", 2, "README.md:15:", "--check-tags")

    def test_a_command_that_fails_is_caught(self):
        self.expect("mkdir -p out/a", "false\nmkdir -p out/a", 1, "README.md:15: exit code 1")
        self.expect("mkdir -p out/a", "false | true\nmkdir -p out/a", 1, "README.md:15: exit code 1")

    def test_marks_that_say_nothing_are_caught(self):
        self.expect('"error" rtol 0.05', '"eror" rtol 0.05', 1, "names 'eror', which is no column")
        self.expect('"error" rtol 0.05', '"error" tolerance 0.05', 2, "unknown option of an output")
        self.expect("| law | error | ms |\n| --- | --- | --- |\n", "", 2, "below the mark of an output")
        self.expect("# A page\n", "<!-- output -->\n", 2, "an output without a command block")

    def test_a_table_of_figures_needs_a_command(self):
        self.expect('<!-- output: "error" rtol 0.05; ignore "ms" -->', "", 2,
                    "README.md:23: a table of figures without")
        sizes = "| a | size |\n| --- | --- |\n| b | 3 m |\n"
        self.assertEqual(self.run_page(sizes)[0], 2)
        self.assertEqual(self.run_page("<!-- no output: sizes -->\n" + sizes), (0, ""))
        self.assertEqual(self.run_page(sizes.replace("size", "default")), (0, ""))

    def test_default_tolerances(self):
        def agree(page, printed):
            return compare_text([f"x {page}"], [f"x {printed}"], Options()).problems == []

        self.assertTrue(agree("5.3e-08", "5.4e-08"))             # a unit of the last decimal
        self.assertFalse(agree("5.3e-08", "5.5e-08"))
        self.assertTrue(agree("2678", "2690"))                   # 1 %
        self.assertFalse(agree("0", "1"))                        # whole numbers have no last decimal
        self.assertFalse(agree("57", "58"))
        self.assertFalse(agree("0.5", "nan"))

    def test_update_writes_what_is_printed(self):
        stale = PAGE.replace("| soft | 1.25 % | 1 |", "| soft | 2.5 % | 1 |")
        stale = stale.replace("wall time  0.07 s", "wall time  7 s")
        self.assertEqual(self.run_page(stale, "--update")[0], 1)
        updated = (self.source / "README.md").read_text(encoding="utf-8")
        self.assertIn("| soft | 1.25 % | 3 |\n| hard | 4.0e-07 | 9 |\n", updated)
        self.assertIn("wall time  0.02 s\n", updated)
        self.assertEqual(self.run_page(updated), (0, ""))

    def test_commands_leave_the_source_as_it_is(self):
        changing = PAGE.replace("mkdir -p out/a", "echo more >> README.md; mkdir -p out/a")
        self.assertEqual(self.run_page(changing), (0, ""))
        self.assertEqual((self.source / "README.md").read_text(encoding="utf-8"), changing)
        self.assertFalse((self.source / "out").exists())


if __name__ == "__main__":
    unittest.main()
