// RUN: --pipeline "loops"

// A matrix in a loop is factored in the kernel, a column of several elements at a time: what earlier
// columns have in common with it is taken away in a loop over these. Nothing is divided by a pivot
// that is not positive without the whole factor being nan.
func.func @factor(%x: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<12x12xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.cholesky %y, lower = true : tensor<12x12xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<12x12xf32>
  }
  return %0#1 : tensor<12x12xf32>
}

// A single right side is solved for an element at a time, which is taken from the equations below.
func.func @solve_one(%a: tensor<12x12xf32>, %b: tensor<12x1xf32>) -> tensor<12x1xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %b) : tensor<i32>, tensor<12x1xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = "stablehlo.triangular_solve"(%a, %y) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x1xf32>) -> tensor<12x1xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<12x1xf32>
  }
  return %0#1 : tensor<12x1xf32>
}

// Of several, a row is computed from those before it; a triangle that is turned is read so.
func.func @solve(%a: tensor<2x6x6xf64>, %b: tensor<2x6x5xf64>) -> tensor<2x6x5xf64> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %b) : tensor<i32>, tensor<2x6x5xf64>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = "stablehlo.triangular_solve"(%a, %y) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<2x6x6xf64>, tensor<2x6x5xf64>) -> tensor<2x6x5xf64>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<2x6x5xf64>
  }
  return %0#1 : tensor<2x6x5xf64>
}
// CHECK-LABEL: func.func @kernel_2(
// CHECK:         [[I:%\w+]] = arith.subi
// CHECK:         scf.for [[K:%\w+]] = {{%\w+}} to {{%\w+}} step {{%\w+}} iter_args([[REST:%\w+]] = {{%\w+}}) -> (vector<5xf64>)
// CHECK:           [[FACTOR:%\w+]] = arith.negf {{%\w+}} : f64
// CHECK:           [[SPREAD:%\w+]] = vector.broadcast [[FACTOR]] : f64 to vector<5xf64>
// CHECK-NEXT:      math.fma [[SPREAD]], {{%\w+}}, [[REST]] : vector<5xf64>
// CHECK-NOT:     arith.divf
// CHECK-LABEL: func.func @kernel_1(
// CHECK:         [[VALUE:%\w+]] = arith.divf {{%\w+}}, {{%\w+}} : f32
// CHECK:         memref.store [[VALUE]]
// CHECK:         [[TAKEN:%\w+]] = arith.negf [[VALUE]] : f32
// CHECK:         vector.broadcast [[TAKEN]] : f32 to vector<12xf32>
// CHECK-NEXT:    math.fma
// CHECK-LABEL: func.func @kernel(
// CHECK:         scf.while
// CHECK:           [[GOOD:%\w+]] = scf.for [[J:%\w+]] = {{%\w+}} to {{%\w+}} step {{%\w+}} iter_args({{%\w+}} = {{%\w+}}) -> (i1)
// CHECK:             scf.for {{%\w+}} = {{%\w+}} to [[J]] step {{%\w+}} iter_args({{%\w+}} = {{%\w+}}) -> (vector<12xf32>)
// CHECK:               math.fma
// CHECK:             math.sqrt
// CHECK:             arith.divf {{%\w+}}, {{%\w+}} : vector<12xf32>
// CHECK:             arith.cmpf ogt
// CHECK:           [[BAD:%\w+]] = arith.xori [[GOOD]]
// CHECK-NEXT:      scf.if [[BAD]]
// CHECK:             arith.constant 0x7FC00000 : f32
// CHECK:       func.func @solve(
