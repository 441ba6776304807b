// RUN: --pipeline "loops"

// A kernel that reads nothing is a constant to IREE, which computes it where the program is loaded.
func.func @main() -> tensor<32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %five = stablehlo.constant dense<5> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %x = stablehlo.constant dense<3> : tensor<32xui32>
  %y = stablehlo.constant dense<7> : tensor<32xui32>
  %exponent = stablehlo.constant dense<1065353216> : tensor<32xui32>
  %shift = stablehlo.constant dense<9> : tensor<32xui32>
  %half = stablehlo.constant dense<1.5> : tensor<32xf32>
  %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i64>, tensor<32xui32>, tensor<32xui32>
  cond {
    %less = stablehlo.compare LT, %i, %five : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i64>
    %n = stablehlo.convert %next : (tensor<i64>) -> tensor<ui32>
    %m = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<ui32>) -> tensor<32xui32>
    %c = stablehlo.multiply %a, %b : tensor<32xui32>
    %d = stablehlo.add %c, %m : tensor<32xui32>
    %e = stablehlo.xor %b, %d : tensor<32xui32>
    stablehlo.return %next, %d, %e : tensor<i64>, tensor<32xui32>, tensor<32xui32>
  }
  %0 = stablehlo.xor %r#1, %r#2 : tensor<32xui32>
  %1 = stablehlo.shift_right_logical %0, %shift : tensor<32xui32>
  %2 = stablehlo.or %1, %exponent : tensor<32xui32>
  %3 = stablehlo.bitcast_convert %2 : (tensor<32xui32>) -> tensor<32xf32>
  %4 = stablehlo.maximum %half, %3 : tensor<32xf32>
  return %4 : tensor<32xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK:         [[R:%\w+]]:3 = flow.dispatch @kernel::@kernel() : () -> (tensor<1xi64>, tensor<32xi32>, tensor<32xi32>)
