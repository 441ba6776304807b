// Reverse mode through nested calls: @main.bwd calls the transposes of what @main calls, in reverse
// order. Functions that one calls twice with the same pattern are derived once.

// RUN: --pipeline "vjp{func=main wrt=1},prune,simplify,canonicalize,cse,symbol-dce"
func.func private @activate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @layer(%w: tensor<4x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %1 = func.call @activate(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// layer(w, layer(w, x)), differentiated with respect to x
func.func @main(%w: tensor<4x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @layer(%w, %x) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @layer(%w, %0) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// tanh(x) is followed by its slope, which is all that the way back needs.
// CHECK:      func.func private @activate.fwd([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[TANH:%\w+]] = stablehlo.tanh [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ABS:%\w+]] = stablehlo.abs [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[ABS]] : tensor<4xf32>
// CHECK-NEXT:   [[EXP:%\w+]] = stablehlo.exponential [[NEGATE]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[EXP]], [[EXP]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[ONE]], [[MULTIPLY]] : tensor<4xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[EXP]], [[ADD]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD_2:%\w+]] = stablehlo.add [[DIVIDE]], [[DIVIDE]] : tensor<4xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare LT, [[ABS]], [[ONE]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[TANH]], [[TANH]] : tensor<4xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[ONE]], [[MULTIPLY_2]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[ADD_2]], [[ADD_2]] : tensor<4xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE]], [[SUBTRACT]], [[MULTIPLY_3]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[TANH]], [[SELECT]] : tensor<4xf32>, tensor<4xf32>
// CHECK:      func.func private @layer.fwd([[W:%\w+]]: tensor<4x4xf32>, [[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[W]], contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[ACTIVATE_FWD:%\w+]]:2 = call @activate.fwd([[DOT]]) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   return [[ACTIVATE_FWD]]#0, [[ACTIVATE_FWD]]#1 : tensor<4xf32>, tensor<4xf32>
// CHECK:      func.func private @main.fwd([[W:%\w+]]: tensor<4x4xf32>, [[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[LAYER_FWD:%\w+]]:2 = call @layer.fwd([[W]], [[X]]) : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   [[LAYER_FWD_2:%\w+]]:2 = call @layer.fwd([[W]], [[LAYER_FWD]]#0) : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   return [[LAYER_FWD_2]]#0, [[LAYER_FWD]]#1, [[LAYER_FWD_2]]#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>

// w is no residual of either call: it came in as an argument, and prune passes it on directly.
// CHECK:      func.func private @main.bwd([[W:%\w+]]: tensor<4x4xf32>,
// CHECK-SAME:   [[SLOPE:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[SLOPE_2:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[LAYER_BWD:%\w+]] = call @layer.bwd([[W]], [[SLOPE_2]], [[CT]]) : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[LAYER_BWD_2:%\w+]] = call @layer.bwd([[W]], [[SLOPE]], [[LAYER_BWD]]) : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[LAYER_BWD_2]] : tensor<4xf32>
// CHECK:      func.func private @layer.bwd([[W:%\w+]]: tensor<4x4xf32>,
// CHECK-SAME:   [[SLOPE:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[ACTIVATE_BWD:%\w+]] = call @activate.bwd([[SLOPE]], [[CT]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[ACTIVATE_BWD]], [[W]], contracting_dims = [0] x [1] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<4xf32>
// CHECK:      func.func private @activate.bwd([[SLOPE:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[CT]], [[SLOPE]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<4xf32>
// CHECK:      func.func @main.vjp([[W:%\w+]]: tensor<4x4xf32>,
// CHECK-SAME:   [[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MAIN_FWD:%\w+]]:3 = call @main.fwd([[W]], [[X]]) : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   [[MAIN_BWD:%\w+]] = call @main.bwd([[W]], [[MAIN_FWD]]#1, [[MAIN_FWD]]#2, [[CT]]) : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[MAIN_FWD]]#0, [[MAIN_BWD]] : tensor<4xf32>, tensor<4xf32>
