// Short rows are combined column by column, with the operations of which nothing else uses the
// result. An init value that is no identity is combined with them.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @lengths(%x: tensor<10000x3xf32>, %y: tensor<10000xf32>) -> tensor<10000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<10000xf32>) -> tensor<10000x3xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<10000x3xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10000x3xf32>, tensor<f32>) -> tensor<10000xf32>
  return %2 : tensor<10000xf32>
}
// CHECK-LABEL: func.func @lengths
// CHECK-NOT:     stablehlo.reduce
// CHECK-COUNT-3: stablehlo.multiply {{.*}} : tensor<10000xf32>
// CHECK-COUNT-2: stablehlo.add {{.*}} : tensor<10000xf32>
// CHECK-NOT:     stablehlo.add

func.func @from_two(%x: tensor<10000x2xf32>) -> tensor<10000xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %two) applies stablehlo.maximum across dimensions = [1] : (tensor<10000x2xf32>, tensor<f32>) -> tensor<10000xf32>
  return %0 : tensor<10000xf32>
}
// CHECK-LABEL: func.func @from_two
// CHECK-COUNT-2: stablehlo.maximum {{.*}} : tensor<10000xf32>

// What is used by others is there anyway, and long rows are reduced as they are.
func.func @others(%x: tensor<10000x3xf32>, %y: tensor<10000x9xf32>) -> (tensor<10000x3xf32>, tensor<10000xf32>, tensor<10000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<10000x3xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10000x3xf32>, tensor<f32>) -> tensor<10000xf32>
  %2 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10000x9xf32>, tensor<f32>) -> tensor<10000xf32>
  return %0, %1, %2 : tensor<10000x3xf32>, tensor<10000xf32>, tensor<10000xf32>
}
// CHECK-LABEL: func.func @others
// CHECK:         [[X:%\w+]] = stablehlo.negate %arg0
// CHECK-COUNT-3: stablehlo.slice [[X]]
// CHECK:         stablehlo.reduce(%arg1

func.func @narrow(%x: tensor<4096x8xui8>) -> tensor<4096xui8> {
  %zero = stablehlo.constant dense<0> : tensor<ui8>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x8xui8>, tensor<ui8>) -> tensor<4096xui8>
  return %0 : tensor<4096xui8>
}
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-7: stablehlo.add {{.*}} : tensor<4096xui8>

// What is computed from smaller arrays is folded along the first dimension, for which these are
// transposed. A number stays as it is.
func.func @distances(%a: tensor<300x16xf32>, %b: tensor<200x16xf32>) -> tensor<300x200xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<300x200x16xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<300x16xf32>) -> tensor<300x200x16xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<200x16xf32>) -> tensor<300x200x16xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<300x200x16xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<300x200x16xf32>
  %4 = stablehlo.divide %3, %two : tensor<300x200x16xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<300x200x16xf32>, tensor<f32>) -> tensor<300x200xf32>
  return %5 : tensor<300x200xf32>
}
// CHECK-LABEL: func.func @distances
// CHECK-DAG:     [[A:%\w+]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK-DAG:     [[B:%\w+]] = stablehlo.transpose %arg1, dims = [1, 0]
// CHECK-DAG:     stablehlo.broadcast_in_dim [[A]], dims = [0, 1] : (tensor<16x300xf32>) -> tensor<16x300x200xf32>
// CHECK-DAG:     stablehlo.broadcast_in_dim [[B]], dims = [0, 2] : (tensor<16x200xf32>) -> tensor<16x300x200xf32>
// CHECK:         [[D:%\w+]] = stablehlo.subtract
// CHECK-NEXT:    stablehlo.multiply [[D]], [[D]] : tensor<16x300x200xf32>
// CHECK:         stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<16x300x200xf32>, tensor<f32>) -> tensor<300x200xf32>

// An array of as many elements is not transposed, nor what others use.
func.func @not_broadcast(%a: tensor<300x200x16xf32>, %b: tensor<200x16xf32>) -> tensor<300x200xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<200x16xf32>) -> tensor<300x200x16xf32>
  %2 = stablehlo.subtract %a, %1 : tensor<300x200x16xf32>
  %5 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<300x200x16xf32>, tensor<f32>) -> tensor<300x200xf32>
  return %5 : tensor<300x200xf32>
}
// CHECK-LABEL: func.func @not_broadcast
// CHECK:         stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [2]

// Reductions beside short rows take these by columns, with the operations on arrays that are broadcast,
// which others may use, too: here, as one array with the columns first.
func.func @forces(%x: tensor<100x3xf32>, %w: tensor<100x100xf32>) -> (tensor<100x3xf32>, tensor<100x100x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<100x3xf32>) -> tensor<100x100x3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<100x3xf32>) -> tensor<100x100x3xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<100x100x3xf32>
  %3 = stablehlo.broadcast_in_dim %w, dims = [0, 1] : (tensor<100x100xf32>) -> tensor<100x100x3xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<100x100x3xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x100x3xf32>, tensor<f32>) -> tensor<100x3xf32>
  return %5, %2 : tensor<100x3xf32>, tensor<100x100x3xf32>
}
// CHECK-LABEL: func.func @forces
// CHECK:         stablehlo.subtract {{.*}} : tensor<3x100x100xf32>
// CHECK:         [[X:%\w+]] = stablehlo.multiply {{.*}} : tensor<3x100x100xf32>
// CHECK-NEXT:    [[SUMS:%\w+]] = stablehlo.reduce([[X]] {{.*}} across dimensions = [2]
// CHECK-NEXT:    stablehlo.transpose [[SUMS]], dims = [1, 0] : (tensor<3x100xf32>) -> tensor<100x3xf32>

// In a loop, as arrays of their own.
func.func @steps(%x: tensor<100x3xf32>, %w: tensor<100x100xf32>) -> tensor<100x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%k = %none, %y = %x) : tensor<i32>, tensor<100x3xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<100x3xf32>) -> tensor<100x100x3xf32>
    %2 = stablehlo.broadcast_in_dim %w, dims = [0, 1] : (tensor<100x100xf32>) -> tensor<100x100x3xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<100x100x3xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x100x3xf32>, tensor<f32>) -> tensor<100x3xf32>
    stablehlo.return %k1, %4 : tensor<i32>, tensor<100x3xf32>
  }
  return %0#1 : tensor<100x3xf32>
}
// CHECK-LABEL: func.func @steps
// CHECK:         [[Y0:%\w+]] = stablehlo.slice %iterArg{{\w*}} [0:100, 0:1]
// CHECK:         stablehlo.multiply {{.*}} : tensor<100x100xf32>
// CHECK:         stablehlo.reduce({{.*}} across dimensions = [1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
// CHECK:         stablehlo.slice %iterArg{{\w*}} [0:100, 2:3]
// CHECK:         stablehlo.concatenate {{.*}}, dim = 1
// CHECK-NOT:     tensor<100x100x3xf32>
