// RUN: --pipeline "limit-fusion"

// Branches that only choose are selects.
// CHECK-LABEL: func.func @choose
// CHECK-NOT:   stablehlo.if
// CHECK:       [[Y:%\w+]] = stablehlo.sine %arg1
// CHECK-NEXT:  [[FIRST:%\w+]] = stablehlo.select %arg0, %arg1, [[Y]]
// CHECK-NEXT:  [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00>
// CHECK-NEXT:  [[SECOND:%\w+]] = stablehlo.select %arg0, [[Y]], [[ZERO]]
// CHECK:       return [[FIRST]], [[SECOND]]
func.func @choose(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = stablehlo.sine %x : tensor<4xf32>
  %0:2 = "stablehlo.if"(%p) ({
    stablehlo.return %x, %y : tensor<4xf32>, tensor<4xf32>
  }, {
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    stablehlo.return %y, %zero : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// A branch that does anything else stays: it may call the host.
// CHECK-LABEL: func.func @compute
// CHECK-NEXT:  [[BOTH:%\w+]]:2 = "stablehlo.if"(%arg0)
// CHECK:       stablehlo.sine
// CHECK:       return [[BOTH]]#0, [[BOTH]]#1
func.func @compute(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %x, %1 : tensor<4xf32>, tensor<4xf32>
  }, {
    stablehlo.return %y, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
