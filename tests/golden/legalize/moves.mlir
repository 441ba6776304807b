// Gathers of many elements are kernels, in which each workgroup copies windows by vectors; equal
// ones share an executable. They clamp indices, and count negative ones from the end.
// RUN: --pipeline "legalize{target=iree-cpu}"
// CHECK:      stream.executable private @[[OTHER:gather_\w+]]
// CHECK:      stream.executable private @[[FILLED:gather_\w+]]
// CHECK:        %[[INSIDE:.*]] = arith.cmpi ule, {{.*}} vector<16xi32>
// CHECK:        %[[FOUND:.*]] = vector.gather
// CHECK:        %[[RESULT:.*]] = arith.select %[[INSIDE]], %[[FOUND]]
// CHECK-NEXT:   vector.store %[[RESULT]]
// CHECK:        arith.cmpi ule, {{.*}} index
// CHECK:      stream.executable private @[[GATHER:gather_\w+]]
// CHECK:        %[[I:.*]] = memref.load
// CHECK:        arith.addi %[[I]], %c4096
// CHECK:        arith.maxsi
// CHECK-NEXT:   arith.constant 4095
// CHECK-NEXT:   arith.minui
// CHECK:        vector.load {{.*}} vector<64xi8>
// CHECK-NEXT:   arith.addi
// CHECK-NEXT:   vector.store
// CHECK:        vector.load {{.*}} vector<36xi8>
// CHECK:      stream.executable private @[[BOTH:scatter_\w+]]
// CHECK:      stream.executable private @[[SCATTER:scatter_\w+]]
// CHECK:        stream.return %c8
// CHECK:        vector.load
// CHECK-NEXT:   vector.store
// CHECK:        memref.load
// CHECK:        arith.cmpi ule
// CHECK:        scf.if
// CHECK:          %[[SUM:.*]] = arith.addf
// CHECK-NEXT:     vector.store %[[SUM]]
func.func @gather_by_vectors(%x: tensor<4096x100xui8>, %i: tensor<50x1xi32>) -> (tensor<50x100xui8>, tensor<50x100xui8>) {
  %zero = stablehlo.constant dense<0> : tensor<50x1xi32>
  %size = stablehlo.constant dense<4096> : tensor<50x1xi32>
  %negative = stablehlo.compare LT, %i, %zero : (tensor<50x1xi32>, tensor<50x1xi32>) -> tensor<50x1xi1>
  %moved = stablehlo.add %i, %size : tensor<50x1xi32>
  %j = stablehlo.select %negative, %moved, %i : tensor<50x1xi1>, tensor<50x1xi32>
  %0 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 100>}> : (tensor<4096x100xui8>, tensor<50x1xi32>) -> tensor<50x100xui8>
  %1 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 100>}> : (tensor<4096x100xui8>, tensor<50x1xi32>) -> tensor<50x100xui8>
  return %0, %1 : tensor<50x100xui8>, tensor<50x100xui8>
}
// CHECK:      func.func @gather_by_vectors([[X:%\w+]]: tensor<4096x100xui8>, [[I:%\w+]]: tensor<50x1xi32>
// CHECK:        [[BITS:%\w+]] = stablehlo.bitcast_convert [[X]] : (tensor<4096x100xui8>) -> tensor<4096x100xi8>
// CHECK:        flow.dispatch @[[GATHER]]::@[[GATHER]]([[BITS]], [[I]])
// CHECK:        flow.dispatch @[[GATHER]]::@[[GATHER]]

// A select that fills the windows beyond the array is part of the kernel, here of 16 windows at a
// time, or else of one.
func.func @filled_gather(%x: tensor<4096xf32>, %i: tensor<5000xi32>) -> tensor<5000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<5000xi32>
  %size = stablehlo.constant dense<4096> : tensor<5000xi32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<5000xf32>
  %low = stablehlo.compare GE, %i, %zero : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
  %high = stablehlo.compare GT, %size, %i : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
  %inside = stablehlo.and %low, %high : tensor<5000xi1>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4096xf32>, tensor<5000xi32>) -> tensor<5000xf32>
  %1 = stablehlo.select %inside, %0, %nan : tensor<5000xi1>, tensor<5000xf32>
  return %1 : tensor<5000xf32>
}
// CHECK:      func.func @filled_gather([[X:%\w+]]: tensor<4096xf32>, [[I:%\w+]]: tensor<5000xi32>
// CHECK:        [[FOUND:%\w+]] = flow.dispatch @[[FILLED]]::@[[FILLED]]({{.*}}, [[I]])
// CHECK-NOT:    stablehlo.select
// CHECK:        return

// Another select stays: it has a bound within the array, or the gather has another use.
func.func @other_selects(%x: tensor<4096xf32>, %i: tensor<5000xi32>) -> (tensor<5000xf32>, tensor<5000xf32>, tensor<5000xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<5000xi32>
  %less = stablehlo.constant dense<4095> : tensor<5000xi32>
  %size = stablehlo.constant dense<4096> : tensor<5000xi32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<5000xf32>
  %low = stablehlo.compare GE, %i, %zero : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
  %lower = stablehlo.compare LT, %i, %less : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
  %high = stablehlo.compare LT, %i, %size : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
  %within = stablehlo.and %low, %lower : tensor<5000xi1>
  %inside = stablehlo.and %low, %high : tensor<5000xi1>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4096xf32>, tensor<5000xi32>) -> tensor<5000xf32>
  %1 = stablehlo.select %within, %0, %nan : tensor<5000xi1>, tensor<5000xf32>
  %2 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4096xf32>, tensor<5000xi32>) -> tensor<5000xf32>
  %3 = stablehlo.select %inside, %2, %nan : tensor<5000xi1>, tensor<5000xf32>
  return %1, %2, %3 : tensor<5000xf32>, tensor<5000xf32>, tensor<5000xf32>
}
// CHECK:      func.func @other_selects
// CHECK:        flow.dispatch @[[OTHER]]::@[[OTHER]]
// CHECK-NEXT:   stablehlo.select
// CHECK-NEXT:   [[FOUND:%\w+]] = flow.dispatch @[[OTHER]]::@[[OTHER]]
// CHECK-NEXT:   [[CHOSEN:%\w+]] = stablehlo.select
// CHECK-NEXT:   return %{{\w+}}, [[FOUND]], [[CHOSEN]]

// The array is copied and combined with the windows in one kernel. Each workgroup has a part of the
// array, and skips the windows of others.
func.func @scatter_by_vectors(%x: tensor<4096x100xf32>, %i: tensor<50x1xi32>, %u: tensor<50x100xf32>) -> tensor<4096x100xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4096x100xf32>, tensor<50x1xi32>, tensor<50x100xf32>) -> tensor<4096x100xf32>
  return %0 : tensor<4096x100xf32>
}
// CHECK:      func.func @scatter_by_vectors([[X:%\w+]]: tensor<4096x100xf32>, [[I:%\w+]]: tensor<50x1xi32>, [[U:%\w+]]: tensor<50x100xf32>
// CHECK:        flow.dispatch @[[SCATTER]]::@[[SCATTER]]([[U]], [[X]], [[I]])

// IREE is as fast at gathers of single bytes, and of few elements.
func.func @single(%x: tensor<8192xi8>, %i: tensor<8192x1xi32>, %y: tensor<8x4xf32>, %j: tensor<3x1xi32>) -> (tensor<8192xi8>, tensor<3x4xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8192xi8>, tensor<8192x1xi32>) -> tensor<8192xi8>
  %1 = "stablehlo.gather"(%y, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<8192xi8>, tensor<3x4xf32>
}
// CHECK:      func.func @single
// CHECK-COUNT-2: "stablehlo.gather"

// An update of every other row copies those, and the array between and around them.
func.func @pad_by_vectors(%x: tensor<1000x100xf32>, %u: tensor<400x100xf32>) -> tensor<1000x100xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %true = stablehlo.constant dense<true> : tensor<400x100xi1>
  %0 = stablehlo.pad %true, %false, low = [1, 0], high = [200, 0], interior = [1, 0] : (tensor<400x100xi1>, tensor<i1>) -> tensor<1000x100xi1>
  %1 = stablehlo.pad %u, %zero, low = [1, 0], high = [200, 0], interior = [1, 0] : (tensor<400x100xf32>, tensor<f32>) -> tensor<1000x100xf32>
  %2 = stablehlo.select %0, %1, %x : tensor<1000x100xi1>, tensor<1000x100xf32>
  return %2 : tensor<1000x100xf32>
}
// CHECK:      func.func @pad_by_vectors([[X:%\w+]]: tensor<1000x100xf32>, [[U:%\w+]]: tensor<400x100xf32>
// CHECK:        [[Y:%\w+]] = flow.dispatch @[[PAD:\w+]]::@[[PAD]]([[U]], [[X]])
// CHECK-NEXT:   return [[Y]]

// A scatter reads windows where the only gather that makes them does.
func.func @scatter_of_gathered(%x: tensor<300x40xf32>, %i: tensor<900xi32>, %j: tensor<900xi32>) -> tensor<200x40xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<200x40xf32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 40>}> : (tensor<300x40xf32>, tensor<900xi32>) -> tensor<900x40xf32>
  %1 = "stablehlo.scatter"(%zeros, %j, %0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<200x40xf32>, tensor<900xi32>, tensor<900x40xf32>) -> tensor<200x40xf32>
  return %1 : tensor<200x40xf32>
}
// CHECK:      func.func @scatter_of_gathered([[X:%\w+]]: tensor<300x40xf32>, [[I:%\w+]]: tensor<900xi32>, [[J:%\w+]]: tensor<900xi32>)
// CHECK-NEXT:   [[SUM:%\w+]] = flow.dispatch @[[BOTH]]::@[[BOTH]]([[X]], [[I]], [[J]])
// CHECK-NEXT:   return [[SUM]]
