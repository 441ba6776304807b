// Private functions keep the arguments they read and the results that calls use; the rest is neither
// passed nor computed.

// RUN: --pipeline "prune"

// The sine is computed for a result that nobody uses, and y is read for it alone.
func.func private @some(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  %1 = stablehlo.sine %y : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func private @some([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[COSINE]] : tensor<4xf32>

// x goes in and out, and so do a constant and the second copy of a value: the caller has them without
// the call.
func.func private @through(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
  return %x, %0, %0, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func private @through([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[COSINE]] : tensor<4xf32>

// Both arguments are the same in all calls.
func.func private @same(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func private @same([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<4xf32>

// Nothing but arguments: calls of it vanish.
func.func private @swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a:2 = func.call @some(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %b:4 = func.call @through(%a#1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %c = func.call @same(%b#0, %b#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d:2 = func.call @swap(%c, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %d#0, %d#1, %b#1, %b#2, %b#3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func @main([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SOME:%\w+]] = call @some([[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[THROUGH:%\w+]] = call @through([[SOME]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[SAME:%\w+]] = call @same([[SOME]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[X]], [[SAME]], [[THROUGH]], [[THROUGH]], [[ONE]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
