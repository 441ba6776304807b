#!/usr/bin/env bash
# IREE 3.13.0: arrays of i1 and i8 on the command line of iree-run-module.
#
# Guess: an array of i1 is written 1 0 1 1, or true false; what does not fit i8 is an error.
# Seen: elements of i1 are bytes of two hexadecimal digits, 01 00 01 01, and are printed so; "1 0 1 1"
# is an error about "binary hex". In an array of i8, 200 is -56 while -200 is an error, and 1.7 is 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 numpy==2.4.6
bin="$folder/venv/bin"
"$bin/iree-compile" --version | sed -n 2p
cat > "$folder/same.mlir" <<'MLIR'
func.func @i1(%a: tensor<4xi1>) -> tensor<4xi1> { return %a : tensor<4xi1> }
func.func @i8(%a: tensor<3xi8>) -> tensor<3xi8> { return %a : tensor<3xi8> }
MLIR
"$bin/iree-compile" --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx \
  "$folder/same.mlir" -o "$folder/same.vmfb"
expect() { # function, input, what is printed
  printed=$("$bin/iree-run-module" --module="$folder/same.vmfb" --device=local-sync \
    --function="$1" --input="$2" 2>&1 || true)
  echo "$2: $(grep -o "$3" <<< "$printed" || echo changed)"
  grep -q "$3" <<< "$printed"
}
expect i1 "4xi1=01 00 01 01" "4xi1=01 00 01 01"
expect i1 "4xi1=1 0 1 1" "binary hex element count mismatch"
expect i1 "4xi1=true false true true" "binary hex element count mismatch"
expect i8 "3xi8=200 -128 1.7" "3xi8=-56 -128 1"
expect i8 "3xi8=-200 0 0" "INVALID_ARGUMENT"
