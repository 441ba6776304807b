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
// CHECK-NEXT:   [[COLORS:%\w+]] = stablehlo.constant dense<[0, 1, 0, 1]>
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.broadcast_in_dim [[COLORS]], dims = [1]
// CHECK-NEXT:   [[NUMBERS:%\w+]] = stablehlo.iota dim = 0 : tensor<2x4xi32>
// CHECK-NEXT:   [[HAS:%\w+]] = stablehlo.compare EQ, [[WIDE]], [[NUMBERS]]
// CHECK-NEXT:   [[SEEDS:%\w+]] = stablehlo.convert [[HAS]] : (tensor<2x4xi1>) -> tensor<2x4xf32>
// CHECK-NEXT:   [[FOUND:%\w+]]:2 = call @main.jvp.batch([[X]], [[SEEDS]])
// CHECK-NEXT:   [[FLAT:%\w+]] = stablehlo.reshape [[FOUND]]#1
// CHECK-NEXT:   [[PLACES:%\w+]] = stablehlo.constant dense<[0, 3, 4, 1, 2, 5]>
// CHECK-NEXT:   [[ELEMENTS:%\w+]] = "stablehlo.gather"([[FLAT]], [[PLACES]])
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.constant dense<[0, 0, 1, 1, 2, 2]>
// CHECK-NEXT:   [[COLUMNS:%\w+]] = stablehlo.constant dense<[0, 1, 1, 2, 2, 3]>
// CHECK-NEXT:   return [[ELEMENTS]], [[ROWS]], [[COLUMNS]]
