#!/usr/bin/env python3
"""Makes one C++ source of the ```cpp blocks of a page, so that the compiler reads them: snippets.py PAGE OUTPUT

Each block becomes a function. What a block takes for given are the function's parameters, named directly above it:

    <!-- given: const Model& model, StepConfig config -->
"""

import re
import sys
from pathlib import Path

# Of pages whose blocks include nothing themselves.
INCLUDES = ("collision/manifold/pair_manifold.h", "dynamics/rollout/checkpointing.h", "dynamics/rollout/gradient_bundle.h",
            "dynamics/rollout/hessian_product.h", "dynamics/rollout/rollout_jvp.h", "dynamics/rollout_env.h",
            "dynamics/simulator.h")
_BLOCK = re.compile(r"(?:<!--\s*given:\s*(?P<given>(?:(?!-->).)*?)\s*-->\s*\n)?^```cpp\n(?P<code>.*?)^```$",
                    re.DOTALL | re.MULTILINE)


def source_of(page, text):
    """The C++ source; line numbers in the compiler's messages are those of the page."""
    includes, functions = [], []
    for k, block in enumerate(_BLOCK.finditer(text)):
        line = text.count("\n", 0, block.start("code")) + 1
        code = block["code"]
        includes += re.findall(r"^#include .*$", code, re.MULTILINE)
        body = re.sub(r"^#include .*$", "", code, flags=re.MULTILINE)
        functions.append(f'void snippet_{k}({block["given"] or ""}) {{\n#line {line} "{page}"\n{body}}}\n')
    if not functions:
        raise SystemExit(f"snippets.py: no ```cpp block in {page}")
    includes = includes or [f'#include "{name}"' for name in INCLUDES]
    return "\n".join([*dict.fromkeys(includes), "", "#include <cstdio>", "", "using namespace abut;", "", *functions])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, output = Path(sys.argv[1]), Path(sys.argv[2])
    output.write_text(source_of(page, page.read_text(encoding="utf-8")), encoding="utf-8")
