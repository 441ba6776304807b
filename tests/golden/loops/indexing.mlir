// RUN: --pipeline "loops"

// Places in registers of 16-bit elements have 16 bits, too: LLVM ends the process for some that
// have more.
func.func @gathers(%x: tensor<7xi16>, %y: tensor<7xi32>, %i: tensor<2x1xi32>, %n: tensor<i32>) -> (tensor<2xi16>, tensor<2xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %u = stablehlo.slice %x [0:2] : (tensor<7xi16>) -> tensor<2xi16>
  %v = stablehlo.slice %y [0:2] : (tensor<7xi32>) -> tensor<2xi32>
  %0:3 = stablehlo.while(%k = %zero, %a = %u, %b = %v) : tensor<i32>, tensor<2xi16>, tensor<2xi32>
  cond {
    %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %k, %one : tensor<i32>
    %p = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %q = stablehlo.add %y, %p : tensor<7xi32>
    %r = stablehlo.convert %q : (tensor<7xi32>) -> tensor<7xi16>
    %2 = "stablehlo.gather"(%r, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xi16>, tensor<2x1xi32>) -> tensor<2xi16>
    %3 = "stablehlo.gather"(%q, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<2x1xi32>) -> tensor<2xi32>
    %4 = stablehlo.add %a, %2 : tensor<2xi16>
    %5 = stablehlo.add %b, %3 : tensor<2xi32>
    stablehlo.return %1, %4, %5 : tensor<i32>, tensor<2xi16>, tensor<2xi32>
  }
  return %0#1, %0#2 : tensor<2xi16>, tensor<2xi32>
}
// CHECK-LABEL: func.func @kernel_1(
// CHECK:         vector.shuffle {{.*}} [8, 9, 0, 1, 8, 9] : vector<10xf32>, vector<10xf32>
// CHECK-LABEL: func.func @kernel(
// CHECK:         arith.trunci {{%\w+}} : vector<7xi32> to vector<7xi16>
// CHECK:         [[I:%\w+]] = arith.trunci {{%\w+}} : vector<2xi32> to vector<2xi16>
// CHECK-NEXT:    [[J:%\w+]] = vector.extract [[I]][0]
// CHECK-NEXT:    [[K:%\w+]] = arith.index_cast [[J]] : i16 to index
// CHECK-NEXT:    vector.extract {{%\w+}}[[[K]]] : i16 from vector<7xi16>
// CHECK-NOT:     arith.trunci
// CHECK:         vector.extract {{.*}} : i32 from vector<7xi32>
// CHECK-NOT:     arith.trunci
// CHECK:         return

// Elements at known places are picked from a register.
func.func @known(%x: tensor<5x2xf32>, %n: tensor<i32>) -> tensor<3x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i = stablehlo.constant dense<[[4], [0], [9]]> : tensor<3x1xi32>
  %start = stablehlo.slice %x [0:3, 0:2] : (tensor<5x2xf32>) -> tensor<3x2xf32>
  %0:3 = stablehlo.while(%k = %zero, %a = %start, %y = %x) : tensor<i32>, tensor<3x2xf32>, tensor<5x2xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %k, %one : tensor<i32>
    %2 = stablehlo.add %y, %y : tensor<5x2xf32>
    %3 = "stablehlo.gather"(%2, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
    stablehlo.return %1, %3, %2 : tensor<i32>, tensor<3x2xf32>, tensor<5x2xf32>
  }
  return %0#1 : tensor<3x2xf32>
}
