// RUN: --pipeline "outline-components{most=3 bound=6 many=2}"

// Components that use none of each other's values, and are equal, are calls of one function. Each
// has its own constants; what many use, %s, is an argument once.
func.func @alike(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %y0: tensor<4xf32>, %y1: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = stablehlo.constant dense<2.0> : tensor<4xf32>
  %b = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x0, %a : tensor<4xf32>
  %1 = stablehlo.multiply %x1, %b : tensor<4xf32>
  %2 = stablehlo.add %0, %s : tensor<4xf32>
  %3 = stablehlo.add %1, %s : tensor<4xf32>
  %4 = stablehlo.subtract %y0, %y1 : tensor<4xf32>
  return %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @alike(
// CHECK:         [[R:%\w+]]:2 = call @alike.alike(%arg0, %arg4, %arg1)
// CHECK-NEXT:    [[D:%\w+]] = stablehlo.subtract
// CHECK-NEXT:    return [[R]]#0, [[R]]#1, [[D]]

// Where a number is folded from all arrays, components end there: what computes its terms are
// calls, and what uses it are others.
func.func @norm(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %zero: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.reduce(%x0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.divide %x0, %3 : tensor<4xf32>
  %5 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %6 = stablehlo.divide %x1, %5 : tensor<4xf32>
  return %4, %6 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @norm(
// CHECK-NEXT:    [[T:%\w+]]:2 = call @norm.alike(%arg0, %arg2, %arg1)
// CHECK-NEXT:    [[S:%\w+]] = stablehlo.add [[T]]#0, [[T]]#1
// CHECK-NEXT:    [[Q:%\w+]]:2 = call @norm.alike_1([[S]], %arg0, %arg1)
// CHECK-NEXT:    return [[Q]]#0, [[Q]]#1

// Those of another shape or with another constant are not equal.
func.func @others(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) {
  %a = stablehlo.constant dense<2.0> : tensor<4xf32>
  %b = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %a : tensor<4xf32>
  %1 = stablehlo.multiply %x, %b : tensor<4xf32>
  %2 = stablehlo.negate %y : tensor<5xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<5xf32>
}
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     call

// CHECK-LABEL: func.func private @alike.alike(
// CHECK:         stablehlo.constant
// CHECK-NEXT:    stablehlo.multiply
// CHECK-NEXT:    stablehlo.add
// CHECK:         stablehlo.constant
// CHECK-NEXT:    stablehlo.multiply
// CHECK-NEXT:    stablehlo.add
// CHECK-NEXT:    return
