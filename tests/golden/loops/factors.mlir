// RUN: --pipeline "lower-counted-loops"

// A loop that multiplies a vector by the columns of a matrix goes through the rows of a copy.
func.func @main(%w: tensor<7000x7000xf32>, %c: tensor<7000xf32>) -> tensor<9x7000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<9x7000xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %c, %ys = %zeros) : tensor<i32>, tensor<7000xf32>, tensor<9x7000xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.dot_general %y, %w, contracting_dims = [0] x [0] : (tensor<7000xf32>, tensor<7000x7000xf32>) -> tensor<7000xf32>
    %new = stablehlo.reshape %z : (tensor<7000xf32>) -> tensor<1x7000xf32>
    %zs = stablehlo.dynamic_update_slice %ys, %new, %i, %zero : (tensor<9x7000xf32>, tensor<1x7000xf32>, tensor<i32>, tensor<i32>) -> tensor<9x7000xf32>
    stablehlo.return %j, %z, %zs : tensor<i32>, tensor<7000xf32>, tensor<9x7000xf32>
  }
  return %0#2 : tensor<9x7000xf32>
}
// CHECK:       func.func @main([[W:%\w+]]: tensor<7000x7000xf32>
// CHECK:       [[T:%\w+]] = stablehlo.transpose [[W]], dims = [1, 0]
// CHECK:       [[COPY:%\w+]] = stablehlo.optimization_barrier [[T]]
// CHECK:       scf.for
// CHECK:         stablehlo.dot_general [[COPY]], {{%\w+}}, contracting_dims = [1] x [0]
