// RUN: --pipeline "loops"

// CHECK:       stream.executable private @kernel_3 {
// CHECK:         [[OTHER:%\w+]] = stream.binding.subspan %arg4[{{.*}} memref<300xf32
// CHECK:         [[Y:%\w+]] = stream.binding.subspan %arg3[{{.*}} memref<300xf32
// CHECK:         scf.while
// CHECK:           scf.for
// CHECK:             memref.load [[Y]]
// CHECK:             vector.store {{.*}}, [[OTHER]]
// CHECK:           memref.store {{.*}}, [[OTHER]]
// CHECK:           scf.for
// CHECK:             [[C:%\w+]] = vector.load [[OTHER]]
// CHECK:             vector.store [[C]], [[Y]]

// CHECK:       stream.executable private @kernel_2 {
// CHECK:         scf.while
// CHECK:           scf.for
// CHECK:             [[X:%\w+]] = memref.load
// CHECK:             [[END:%\w+]] = arith.minsi
// CHECK:             [[PLACE:%\w+]] = scf.while ({{.*}} = [[END]])
// CHECK:               arith.bitcast {{.*}} : f32 to i32
// CHECK:               arith.cmpi sgt
// CHECK:               scf.condition
// CHECK:             memref.store [[X]]

// CHECK:       stream.executable private @kernel_1 {
// CHECK:         [[COPY:%\w+]] = stream.binding.subspan %arg{{[0-9]+}}[{{.*}} memref<300xf32
// CHECK:         scf.while
// CHECK:           scf.for
// CHECK:             [[C:%\w+]] = vector.load [[Y:%\w+]]{{.*}} vector<16xf32>
// CHECK:             vector.store [[C]], [[COPY]]
// CHECK:           memref.store {{.*}}, [[COPY]]
// CHECK:           arith.addf {{.*}} : vector<16xf32>
// CHECK:           scf.yield

// CHECK:       stream.executable private @kernel {
// CHECK:         scf.while {{.*}} : (i32) -> i32
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               memref.load {{.*}} : memref<4xi32
// CHECK:               arith.minsi
// CHECK:               memref.load [[Y:%\w+]]{{.*}} : memref<300xf32
// CHECK:             scf.for
// CHECK:               [[INSIDE:%\w+]] = arith.cmpi ule
// CHECK:               scf.if [[INSIDE]]
// CHECK:                 memref.load [[Y]]
// CHECK:                 arith.addf
// CHECK:                 memref.store {{.*}}, [[Y]]
// CHECK-NOT:         vector.store
// CHECK:           scf.yield

// Large arrays are updated in place in loops and branches, and read and written by windows.
func.func @windows(%c: tensor<300xf32>, %at: tensor<6x4x1xi32>) -> tensor<300xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<300xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %at, %i, %zero, %zero, sizes = [1, 4, 1] : (tensor<6x4x1xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x1xi32>
    %places = stablehlo.reshape %row : (tensor<1x4x1xi32>) -> tensor<4x1xi32>
    %p = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %z = "stablehlo.if"(%p) ({
      %x = "stablehlo.gather"(%y, %places) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<300xf32>, tensor<4x1xi32>) -> tensor<4xf32>
      %new = "stablehlo.scatter"(%y, %places, %x) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<300xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<300xf32>
      stablehlo.return %new : tensor<300xf32>
    }, {
      stablehlo.return %y : tensor<300xf32>
    }) : (tensor<i1>) -> tensor<300xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<300xf32>
  }
  return %0#1 : tensor<300xf32>
}
// CHECK-LABEL: func.func @windows

// An array that is read after an update is copied before it.
func.func @read_after(%c: tensor<300xf32>) -> tensor<300xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<300xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %x = stablehlo.dynamic_slice %y, %i, sizes = [1] : (tensor<300xf32>, tensor<i32>) -> tensor<1xf32>
    %new = stablehlo.dynamic_update_slice %y, %x, %j : (tensor<300xf32>, tensor<1xf32>, tensor<i32>) -> tensor<300xf32>
    %z = stablehlo.add %y, %new : tensor<300xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<300xf32>
  }
  return %0#1 : tensor<300xf32>
}
// CHECK-LABEL: func.func @read_after

// Short rows are sorted by insertion, of which as many elements stay as are read.
func.func @sorted(%c: tensor<40xf32>) -> tensor<40xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<40xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = "stablehlo.sort"(%y) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %best = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    %new = stablehlo.dynamic_update_slice %y, %best, %i : (tensor<40xf32>, tensor<3xf32>, tensor<i32>) -> tensor<40xf32>
    stablehlo.return %j, %new : tensor<i32>, tensor<40xf32>
  }
  return %0#1 : tensor<40xf32>
}
// CHECK-LABEL: func.func @sorted

// An array that is updated in reverse is written to other memory: each element would be read after
// that at the other end is written.
func.func @reversed(%c: tensor<300xf32>, %u: tensor<1xf32>) -> tensor<300xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<300xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %r = stablehlo.reverse %y, dims = [0] : tensor<300xf32>
    %new = stablehlo.dynamic_update_slice %r, %u, %i : (tensor<300xf32>, tensor<1xf32>, tensor<i32>) -> tensor<300xf32>
    stablehlo.return %j, %new : tensor<i32>, tensor<300xf32>
  }
  return %0#1 : tensor<300xf32>
}
// CHECK-LABEL: func.func @reversed
