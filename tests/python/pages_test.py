"""The Python on the pages runs: the blocks of a page one after the other, in the folder of the
source."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
    if BLOCK.search(page.read_text())
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SOURCE)
    text = page.read_text()
    names: dict = {}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(page), "exec"), names)


def test_there_are_pages() -> None:
    assert [page.name for page in PAGES].count("python.md") == 1
