#!/usr/bin/env bash
# IREE 3.13.0: iree-run-module --expected_output of an array of f8E4M3FN.
#
# Guess: a result that differs is reported as it is for f32: which element, what was expected.
# Seen: equal results succeed; a result that differs ends the tool with OUT_OF_RANGE, and neither the
# place nor the values are told. For f32, "equal" is within 1e-4, whatever the size: 0 matches 9e-5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 numpy==2.4.6
bin="$folder/venv/bin"
"$bin/iree-compile" --version | sed -n 2p
cat > "$folder/same.mlir" <<'MLIR'
func.func @f8(%a: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> { return %a : tensor<2xf8E4M3FN> }
func.func @f32(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
MLIR
"$bin/iree-compile" --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx \
  "$folder/same.mlir" -o "$folder/same.vmfb"
expect() { # function, input, expected output, what is printed
  printed=$("$bin/iree-run-module" --module="$folder/same.vmfb" --device=local-sync \
    --function="$1" --input="$2" --expected_output="$3" 2>&1 || true)
  echo "$2, expected $3: $(grep -o "$4" <<< "$printed" || echo changed)"
  grep -q "$4" <<< "$printed"
}
expect f8 "2xf8E4M3FN=1 4" "2xf8E4M3FN=1 4" "SUCCESS"
expect f8 "2xf8E4M3FN=1 4" "2xf8E4M3FN=1 8" "OUT_OF_RANGE"
if grep -q "element at index" <<< "$printed"; then echo "changed: the element is told"; exit 1; fi
expect f32 "2xf32=1 4" "2xf32=1 8" "element at index 1 (4) does not match the expected (8)"
expect f32 "2xf32=1 0" "2xf32=1 9e-5" "SUCCESS"
