// RUN: --pipeline "piecewise"

// A step of the heat equation with cold boundaries is one kernel. Its rows have three parts: a column
// of zeros, sums of neighbours by vectors, and a column of zeros. The first and the last row are zeros.
func.func @heat(%u: tensor<400x500xf32>) -> tensor<400x500xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %up = stablehlo.slice %u [0:398, 1:499] : (tensor<400x500xf32>) -> tensor<398x498xf32>
  %down = stablehlo.slice %u [2:400, 1:499] : (tensor<400x500xf32>) -> tensor<398x498xf32>
  %sum = stablehlo.add %up, %down : tensor<398x498xf32>
  %0 = stablehlo.pad %sum, %zero, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<398x498xf32>, tensor<f32>) -> tensor<400x500xf32>
  %1 = stablehlo.add %u, %0 : tensor<400x500xf32>
  return %1 : tensor<400x500xf32>
}
// CHECK-LABEL: func.func @piecewise(%arg0: !stream.binding, %arg1: !stream.binding)
// CHECK-COUNT-3: scf.if
// CHECK:       func.func @heat
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @piecewise::@piecewise(%arg0)
// CHECK-NEXT:    return [[Y]]

// Each update reads what the one before it has made in the same places: all are computed at once.
func.func @updates(%u: tensor<8192xf32>) -> tensor<8192xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %u, %u : tensor<8192xf32>
  %1 = stablehlo.slice %0 [1:8192] : (tensor<8192xf32>) -> tensor<8191xf32>
  %2 = stablehlo.slice %u [0:8191] : (tensor<8192xf32>) -> tensor<8191xf32>
  %3 = stablehlo.subtract %1, %2 : tensor<8191xf32>
  %4 = stablehlo.dynamic_update_slice %0, %3, %one : (tensor<8192xf32>, tensor<8191xf32>, tensor<i32>) -> tensor<8192xf32>
  %5 = stablehlo.slice %4 [0:8191] : (tensor<8192xf32>) -> tensor<8191xf32>
  %6 = stablehlo.slice %u [1:8192] : (tensor<8192xf32>) -> tensor<8191xf32>
  %7 = stablehlo.subtract %5, %6 : tensor<8191xf32>
  %8 = stablehlo.dynamic_update_slice %4, %7, %zero : (tensor<8192xf32>, tensor<8191xf32>, tensor<i32>) -> tensor<8192xf32>
  return %8 : tensor<8192xf32>
}
// CHECK:       func.func @updates
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @piecewise_1::@piecewise_1(%arg0)
// CHECK-NEXT:    return [[Y]]

// A shift around the end is a view of two parts. Two results are written by one kernel.
func.func @rolled(%u: tensor<64x100xi32>) -> (tensor<64x100xi32>, tensor<64x100xi1>) {
  %0 = stablehlo.slice %u [0:64, 99:100] : (tensor<64x100xi32>) -> tensor<64x1xi32>
  %1 = stablehlo.slice %u [0:64, 0:99] : (tensor<64x100xi32>) -> tensor<64x99xi32>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<64x1xi32>, tensor<64x99xi32>) -> tensor<64x100xi32>
  %3 = stablehlo.add %u, %2 : tensor<64x100xi32>
  %4 = stablehlo.compare GT, %3, %u : (tensor<64x100xi32>, tensor<64x100xi32>) -> tensor<64x100xi1>
  return %3, %4 : tensor<64x100xi32>, tensor<64x100xi1>
}
// CHECK:       func.func @rolled
// CHECK-NEXT:    [[Y:%\w+]]:2 = flow.dispatch @piecewise_2::@piecewise_2(%arg0)
// CHECK-NEXT:    return
