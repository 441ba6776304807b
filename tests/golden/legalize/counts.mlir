// Counts at few places: each of the two workgroups has four tables, which updates go to in turn, and a
// reduction adds them up. No memory is read for the updates, which are all one number. They are integers, and
// converted then.
// RUN: --pipeline "legalize{target=iree-cpu}"
// CHECK:      stream.executable private @scatter_
// CHECK:      stream.executable private @[[COUNT:scatter_\w+]]
// CHECK:        stream.return %c2
// CHECK:        func.func @[[COUNT]](%{{\w+}}: !stream.binding, %{{\w+}}: !stream.binding)
// CHECK:        scf.for {{.*}} step %c4
// CHECK-COUNT-4: memref.store
// CHECK:        scf.for
func.func @counts(%i: tensor<40000xi32>) -> tensor<10xf32> {
  %x = stablehlo.constant dense<2.0> : tensor<10xf32>
  %u = stablehlo.constant dense<1.0> : tensor<40000xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10xf32>, tensor<40000xi32>, tensor<40000xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}
// CHECK:      func.func @counts([[I:%\w+]]: tensor<40000xi32>
// CHECK:        [[TABLES:%\w+]] = flow.dispatch @[[COUNT]]::@[[COUNT]]([[I]]) : (tensor<40000xi32>) -> tensor<8x10xi32>
// CHECK:        [[SUMS:%\w+]] = stablehlo.reduce([[TABLES]]
// CHECK:        [[COUNTS:%\w+]] = stablehlo.convert [[SUMS]] : (tensor<10xi32>) -> tensor<10xf32>
// CHECK-NEXT:   stablehlo.add {{.*}}, [[COUNTS]]

// Halves are added in order, by one workgroup.
func.func @halves(%i: tensor<40000xi32>) -> tensor<10xf32> {
  %x = stablehlo.constant dense<0.0> : tensor<10xf32>
  %u = stablehlo.constant dense<0.5> : tensor<40000xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10xf32>, tensor<40000xi32>, tensor<40000xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}
// CHECK:      func.func @halves
// CHECK-NOT:    stablehlo.reduce
