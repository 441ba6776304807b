// A reversal needs all rows: they are gathered, and the result is divided again as they were.
// RUN: --pipeline "partition"
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32>
    attributes {irax.mesh = "data=2", irax.in_specs = [[["data"], []]], irax.out_specs = [unit]} {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// CHECK:      func.func {{.*}}@main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-SAME:   irax.out_specs = {{.*}}"data"
// CHECK:        [[STACKED:%\w+]] = stablehlo.custom_call @irax.all_gather(%arg0)
// CHECK:        [[WHOLE:%\w+]] = stablehlo.reshape [[STACKED]]
// CHECK:        [[TURNED:%\w+]] = stablehlo.reverse [[WHOLE]], dims = [0]
// CHECK:        [[PLACE:%\w+]] = stablehlo.custom_call @irax.axis_index()
// CHECK:        [[OWN:%\w+]] = stablehlo.dynamic_slice [[TURNED]], {{.*}} sizes = [4, 4]
// CHECK:        return [[OWN]]
