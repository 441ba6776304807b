// What prune leaves alone: public functions, and functions that are named otherwise than by a call.

// RUN: --pipeline "prune"

func.func @public(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  return %0, %y : tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func @public([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[COSINE]], [[Y]] : tensor<4xf32>, tensor<4xf32>

func.func private @composed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func private @composed([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[COSINE]] : tensor<4xf32>

// The caller still has y without the call.
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a:2 = func.call @public(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %b = stablehlo.composite "my.cosine" %x, %y {decomposition = @composed} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @composed(%a#0, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a#1, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func @main([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[PUBLIC:%\w+]]:2 = call @public([[X]], [[Y]]) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   [[COMPOSITE:%\w+]] = stablehlo.composite "my.cosine" [[X]], [[Y]] {decomposition = @composed} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[COMPOSED:%\w+]] = call @composed([[PUBLIC]]#0, [[Y]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[Y]], [[COMPOSITE]], [[COMPOSED]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
