// Two colors do for a Jacobian of two diagonals: two tangents, of which the elements are taken.

// RUN: --pipeline "jacobian{func=main}"
// x[1:] * x[:-1]
func.func @main(%x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.slice %x [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %1 = stablehlo.slice %x [0:3] : (tensor<4xf32>) -> tensor<3xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
// CHECK:      func.func private @main.jvp.batch({{.*}}: tensor<4xf32>, {{.*}}: tensor<2x4xf32>)
// CHECK:      func.func @main.jacobian([[X:%\w+]]: tensor<4xf32>) -> (tensor<6xf32>, tensor<6xi64>, tensor<6xi64>)
// CHECK-NEXT:   [[SEEDS:%\w+]] = stablehlo.constant dense<
// CHECK-SAME:     [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00],
// CHECK-SAME:     [1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00]
// CHECK-NEXT:   [[FOUND:%\w+]]:2 = call @main.jvp.batch([[X]], [[SEEDS]])
// CHECK-NEXT:   [[PLACES:%\w+]] = stablehlo.constant
// CHECK-SAME:     [1, 0], [0, 0], [0, 1], [1, 1], [1, 2], [0, 2]
// CHECK-NEXT:   [[ELEMENTS:%\w+]] = "stablehlo.gather"([[FOUND]]#1, [[PLACES]])
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.constant dense<[0, 0, 1, 1, 2, 2]>
// CHECK-NEXT:   [[COLUMNS:%\w+]] = stablehlo.constant dense<[0, 1, 1, 2, 2, 3]>
// CHECK-NEXT:   return [[ELEMENTS]], [[ROWS]], [[COLUMNS]]
