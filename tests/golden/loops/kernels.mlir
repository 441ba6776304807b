// CHIP: x86-64-v4
// RUN: --pipeline "loops"

// CHECK:       stream.executable private @kernel_3 {
// CHECK:         [[OWN:%\w+]] = stream.binding.subspan %arg5[
// CHECK:         [[H:%\w+]] = stream.binding.subspan %arg4[
// CHECK:         scf.while {{.*}} : (i32) -> i32
// CHECK:           [[SUM:%\w+]] = scf.for {{.*}} -> (vector<128xf32>)
// CHECK:             memref.load [[H]]
// CHECK:             math.fma {{.*}} : vector<128xf32>
// CHECK:           vector.store [[SUM]], [[OWN]]
// CHECK:           scf.for {{.*}} -> (vector<64xf32>)
// CHECK:           scf.for
// CHECK:             arith.addf {{.*}} : vector<16xf32>
// CHECK:             [[NEW:%\w+]] = arith.negf {{.*}} : vector<16xf32>
// CHECK:             vector.store [[NEW]], [[H]]
// CHECK:           arith.negf {{.*}} : vector<8xf32>

// CHECK:       stream.executable private @kernel_2 {
// CHECK:         [[Y:%\w+]] = stream.binding.subspan %arg3[
// CHECK:         scf.while {{.*}} : (i32, i64) -> (i32, i64)
// CHECK:           scf.if
// CHECK:             [[X:%\w+]] = memref.load [[Y]]
// CHECK-NOT:         vector.store
// CHECK:             memref.store [[X]], [[Y]]

// CHECK:       stream.executable private @kernel_1 {
// CHECK:         scf.while {{.*}} : (i32, vector<4xf32>)
// CHECK:           [[X:%\w+]] = vector.load {{.*}} vector<4xf32>
// CHECK:           [[Z:%\w+]] = arith.addf {{.*}}, [[X]] : vector<4xf32>
// CHECK:           vector.store [[Z]], {{.*}} vector<4xf32>

// CHECK:       stream.executable private @kernel {
// CHECK:         scf.while ([[I:%\w+]] = {{.*}}, [[Y:%\w+]] = {{.*}}, {{.*}}) : (i32, i8, i64) -> (i32, i8, i64)
// CHECK:           arith.cmpi slt, [[I]],
// CHECK:           scf.condition
// CHECK:         do
// CHECK:           arith.addi
// CHECK:           arith.maxui
// CHECK:           scf.yield

// A loop over scalars is one kernel, which has them in registers.
func.func @scalars(%n: tensor<i32>, %x: tensor<ui8>) -> tensor<ui8> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<ui8>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.maximum %y, %x : tensor<ui8>
    stablehlo.return %j, %z : tensor<i32>, tensor<ui8>
  }
  return %0#1 : tensor<ui8>
}
// CHECK-LABEL: func.func @scalars
// CHECK-NOT:   stablehlo.while
// CHECK:       [[R:%\w+]] = flow.dispatch @kernel::@kernel(
// CHECK:       stablehlo.bitcast_convert [[R]] {{.*}} -> tensor<1xui8>

// Few elements are a vector; rows are read from an array, and written to the result.
func.func @rows(%xs: tensor<6x4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<6x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<6x4xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %c, %ys = %zeros) : tensor<i32>, tensor<4xf32>, tensor<6x4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %x = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %z = stablehlo.add %y, %x : tensor<4xf32>
    %new = stablehlo.reshape %z : (tensor<4xf32>) -> tensor<1x4xf32>
    %zs = stablehlo.dynamic_update_slice %ys, %new, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    stablehlo.return %j, %z, %zs : tensor<i32>, tensor<4xf32>, tensor<6x4xf32>
  }
  return %0#1, %0#2 : tensor<4xf32>, tensor<6x4xf32>
}
// CHECK-LABEL: func.func @rows
// CHECK-NOT:   stablehlo.while
// CHECK:       flow.dispatch @kernel_1::@kernel_1({{.*}}) : (tensor<24xf32>, tensor<4xf32>) -> (tensor<1xi32>, tensor<4xf32>, tensor<24xf32>)

// Elements are read and written in place, within a branch too.
func.func @elements(%c: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<8xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %z = "stablehlo.if"(%p) ({
      %x = stablehlo.dynamic_slice %y, %i, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
      %new = stablehlo.dynamic_update_slice %y, %x, %j : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
      stablehlo.return %new : tensor<8xf32>
    }, {
      stablehlo.return %y : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
// CHECK-LABEL: func.func @elements
// CHECK-NOT:   stablehlo.while
// CHECK:       flow.dispatch @kernel_2::@kernel_2(

// Many elements are in the result, or in the kernel's own memory, and are processed in chunks. The
// elements of the product are summed in registers.
func.func @memory(%xs: tensor<6x200xf32>, %w: tensor<200x200xf32>, %c: tensor<200xf32>) -> tensor<200xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<200xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 200] : (tensor<6x200xf32>, tensor<i32>, tensor<i32>) -> tensor<1x200xf32>
    %x = stablehlo.reshape %row : (tensor<1x200xf32>) -> tensor<200xf32>
    %z = stablehlo.dot_general %y, %w, contracting_dims = [0] x [0] : (tensor<200xf32>, tensor<200x200xf32>) -> tensor<200xf32>
    %s = stablehlo.add %z, %x : tensor<200xf32>
    %t = stablehlo.negate %s : tensor<200xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<200xf32>
  }
  return %0#1 : tensor<200xf32>
}
// CHECK-LABEL: func.func @memory
// CHECK:       flow.dispatch @kernel_3::@kernel_3({{.*}}) : (tensor<1200xf32>, tensor<200xf32>, tensor<40000xf32>) -> (tensor<1xi32>, tensor<200xf32>, tensor<832xi8>)

// Booleans are bytes in memory, and arrays of them are bound as they are.
func.func @booleans(%marks: tensor<200xi1>, %n: tensor<i32>) -> tensor<200xi1> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %false = stablehlo.constant dense<false> : tensor<1xi1>
  %0:2 = stablehlo.while(%i = %zero, %y = %marks) : tensor<i32>, tensor<200xi1>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %new = stablehlo.dynamic_update_slice %y, %false, %i : (tensor<200xi1>, tensor<1xi1>, tensor<i32>) -> tensor<200xi1>
    stablehlo.return %j, %new : tensor<i32>, tensor<200xi1>
  }
  return %0#1 : tensor<200xi1>
}
// CHECK-LABEL: func.func @booleans
// CHECK-NOT:   stablehlo.convert
// CHECK:       flow.dispatch @kernel_4::@kernel_4({{.*}}) : (tensor<1xi32>, tensor<200xi1>, i64) -> (tensor<1xi32>, tensor<200xi1>)
