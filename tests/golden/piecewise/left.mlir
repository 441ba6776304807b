// RUN: --pipeline "piecewise"

// An update of few elements of an array from elsewhere is left to IREE, which writes it in place.
func.func @few(%u: tensor<400x500xf32>) -> tensor<400x500xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.slice %u [1:2, 0:500] : (tensor<400x500xf32>) -> tensor<1x500xf32>
  %1 = stablehlo.negate %0 : tensor<1x500xf32>
  %2 = stablehlo.dynamic_update_slice %u, %1, %zero, %zero : (tensor<400x500xf32>, tensor<1x500xf32>, tensor<i32>, tensor<i32>) -> tensor<400x500xf32>
  return %2 : tensor<400x500xf32>
}
// CHECK-LABEL: func.func @few
// CHECK:         stablehlo.dynamic_update_slice

// Nobody knows where this update is.
func.func @anywhere(%u: tensor<8192xf32>, %v: tensor<100xf32>, %i: tensor<i32>) -> tensor<8192xf32> {
  %0 = stablehlo.exponential %u : tensor<8192xf32>
  %1 = stablehlo.dynamic_update_slice %0, %v, %i : (tensor<8192xf32>, tensor<100xf32>, tensor<i32>) -> tensor<8192xf32>
  return %1 : tensor<8192xf32>
}
// CHECK-LABEL: func.func @anywhere
// CHECK:         stablehlo.dynamic_update_slice

// What is read at two places is not computed twice, so it is stored before; and what others use as
// well as the kernel is stored for them.
func.func @twice(%u: tensor<8192xf32>) -> tensor<8192xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %u : tensor<8192xf32>
  %1 = stablehlo.pad %0, %zero, low = [1], high = [1], interior = [0] : (tensor<8192xf32>, tensor<f32>) -> tensor<8194xf32>
  %2 = stablehlo.slice %1 [0:8192] : (tensor<8194xf32>) -> tensor<8192xf32>
  %3 = stablehlo.slice %1 [2:8194] : (tensor<8194xf32>) -> tensor<8192xf32>
  %4 = stablehlo.subtract %2, %3 : tensor<8192xf32>
  return %4 : tensor<8192xf32>
}
// CHECK-LABEL: func.func @twice
// CHECK:         [[X:%\w+]] = stablehlo.exponential
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @piecewise::@piecewise([[X]])
// CHECK-NEXT:    return [[Y]]

// The epilogue of a product is computed with it.
func.func @epilogue(%u: tensor<64x64xf32>) -> tensor<66x66xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %u, %u, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.negate %0 : tensor<64x64xf32>
  %2 = stablehlo.pad %1, %zero, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<64x64xf32>, tensor<f32>) -> tensor<66x66xf32>
  return %2 : tensor<66x66xf32>
}
// CHECK-LABEL: func.func @epilogue
// CHECK:         stablehlo.pad

// An array between whose elements others are put is stored before.
func.func @between(%u: tensor<4096xf32>) -> tensor<8191xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %u : tensor<4096xf32>
  %1 = stablehlo.pad %0, %zero, low = [0], high = [0], interior = [1] : (tensor<4096xf32>, tensor<f32>) -> tensor<8191xf32>
  %2 = stablehlo.negate %1 : tensor<8191xf32>
  return %2 : tensor<8191xf32>
}
// CHECK-LABEL: func.func @between
// CHECK-NOT:     flow.dispatch
// CHECK:         stablehlo.pad

// A kernel cannot read what it gives to others: the reversed array is not one kernel with the joined one.
func.func @reads_its_own(%x: tensor<300x300xf32>) -> (tensor<300x300xf32>, tensor<300x300xf32>) {
  %low = stablehlo.constant dense<-3.0> : tensor<300x300xf32>
  %high = stablehlo.constant dense<3.0> : tensor<300x300xf32>
  %0 = stablehlo.slice %x [1:300, 0:300] : (tensor<300x300xf32>) -> tensor<299x300xf32>
  %1 = stablehlo.slice %x [0:1, 0:300] : (tensor<300x300xf32>) -> tensor<1x300xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<299x300xf32>, tensor<1x300xf32>) -> tensor<300x300xf32>
  %3 = stablehlo.maximum %2, %low : tensor<300x300xf32>
  %4 = stablehlo.dot_general %3, %x, contracting_dims = [1] x [0] : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
  %5 = stablehlo.reshape %3 : (tensor<300x300xf32>) -> tensor<90000xf32>
  %6 = stablehlo.reverse %5, dims = [0] : tensor<90000xf32>
  %7 = stablehlo.reshape %6 : (tensor<90000xf32>) -> tensor<300x300xf32>
  %8 = stablehlo.minimum %7, %high : tensor<300x300xf32>
  return %4, %8 : tensor<300x300xf32>, tensor<300x300xf32>
}
// CHECK-LABEL: func.func @reads_its_own
// CHECK:         [[Y:%\w+]] = flow.dispatch @piecewise{{.*}}(%arg0)
// CHECK:         stablehlo.dot_general [[Y]], %arg0
// CHECK:         stablehlo.reverse
// CHECK:         stablehlo.minimum

// Nor can it read what is computed of that: the array of two in turn is stored, and needs the rolled one.
func.func @reads_what_follows(%x: tensor<20000xf32>) -> (tensor<20000xf32>, tensor<20000xf32>) {
  %0 = stablehlo.slice %x [1:20000] : (tensor<20000xf32>) -> tensor<19999xf32>
  %1 = stablehlo.slice %x [0:1] : (tensor<20000xf32>) -> tensor<1xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<19999xf32>, tensor<1xf32>) -> tensor<20000xf32>
  %3 = stablehlo.tanh %2 : tensor<20000xf32>
  %4 = stablehlo.slice %3 [0:10000] : (tensor<20000xf32>) -> tensor<10000xf32>
  %5 = stablehlo.cosine %4 : tensor<10000xf32>
  %6 = stablehlo.slice %3 [10000:20000] : (tensor<20000xf32>) -> tensor<10000xf32>
  %7 = stablehlo.reshape %5 : (tensor<10000xf32>) -> tensor<10000x1xf32>
  %8 = stablehlo.reshape %6 : (tensor<10000xf32>) -> tensor<10000x1xf32>
  %9 = stablehlo.concatenate %7, %8, dim = 1 : (tensor<10000x1xf32>, tensor<10000x1xf32>) -> tensor<10000x2xf32>
  %10 = stablehlo.reshape %9 : (tensor<10000x2xf32>) -> tensor<20000xf32>
  %11 = stablehlo.concatenate %10, %3, dim = 0 : (tensor<20000xf32>, tensor<20000xf32>) -> tensor<40000xf32>
  %12 = stablehlo.slice %11 [3:20003] : (tensor<40000xf32>) -> tensor<20000xf32>
  %13 = stablehlo.tanh %12 : tensor<20000xf32>
  return %3, %13 : tensor<20000xf32>, tensor<20000xf32>
}
// CHECK-LABEL: func.func @reads_what_follows
// CHECK:         [[Y:%\w+]] = flow.dispatch @piecewise{{.*}}(%arg0)
// CHECK:         stablehlo.concatenate
