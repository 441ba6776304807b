#!/usr/bin/env bash
# MLIR's Python bindings in IREE 3.13.0 and jaxlib 0.10.2: an operation as a key of a set or dict.
#
# Guess: two operations are equal if they are the same one, so they are hashed by identity.
# Seen: == compares identities, and hash() is that of the contents (name, operands, attributes,
# types). Two operations without a difference have one hash, and an operation to which an attribute
# is added is no longer found in a set that holds it, though iterating over the set gives it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq iree-base-compiler==3.13.0 jaxlib==0.10.2 numpy==2.4.6
cat > "$folder/program.py" <<'PYTHON'
import importlib
import sys

ir = importlib.import_module(sys.argv[1])
with ir.Context() as context, ir.Location.unknown():
    context.allow_unregistered_dialects = True
    one, other = ir.Operation.create("some.op"), ir.Operation.create("some.op")
    same = one == other, hash(one) == hash(other)
    kept = {one}
    before = one in kept
    one.attributes["count"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 7)
    found = before, one in kept, [each == one for each in kept]
    print(f"{sys.argv[1]}: equal {same[0]}, hashes equal {same[1]}; in the set before {found[0]},")
    print(f"  after {found[1]}, by iteration {found[2]}")
    assert same == (False, True) and found == (True, False, [True]), "changed"
PYTHON
"$folder/venv/bin/pip" list 2>/dev/null | grep -i "^iree\|^jaxlib"
for module in iree.compiler.ir jaxlib.mlir.ir; do
  "$folder/venv/bin/python" "$folder/program.py" "$module"
done
