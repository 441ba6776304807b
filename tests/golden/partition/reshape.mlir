// A dimension that is divided along two axes is split in two, each divided along one.
// RUN: --pipeline "partition"
func.func @main(%x: tensor<8x3xf32>) -> tensor<2x4x3xf32>
    attributes {irax.mesh = "a=2,b=2", irax.in_specs = [[["a", "b"], []]], irax.out_specs = [unit]} {
  %0 = stablehlo.reshape %x : (tensor<8x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
// CHECK:      func.func {{.*}}@main(%arg0: tensor<2x3xf32>) -> tensor<1x2x3xf32>
// CHECK-SAME:   irax.out_specs = {{.*}}"a"{{.*}}"b"
// CHECK:        [[OWN:%\w+]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
// CHECK:        return [[OWN]]
