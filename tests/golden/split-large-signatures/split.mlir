// RUN: --pipeline "annotate,split-large-signatures{most=5 bound=3}"

// Two equal parts are one function, called twice with the numbers of its arguments and results: x, y
// and the first result, and one later of each.
func.func @main(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %y0: tensor<4xf32>, %y1: tensor<4xf32>, %n: tensor<ui8>) -> (tensor<4xf32>, tensor<4xf32>, tensor<ui8>, tensor<ui8>) {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x0, %two : tensor<4xf32>
  %1 = stablehlo.add %0, %y0 : tensor<4xf32>
  %2 = stablehlo.multiply %x1, %two : tensor<4xf32>
  %3 = stablehlo.add %2, %y1 : tensor<4xf32>
  %4 = stablehlo.add %n, %n : tensor<ui8>
  return %1, %3, %4, %n : tensor<4xf32>, tensor<4xf32>, tensor<ui8>, tensor<ui8>
}
// CHECK:       func.func private @main.part(%arg0: !util.list<?>, %arg1: !util.list<?>, %arg2: !util.buffer)
// CHECK:         [[N:%\w+]] = util.buffer.load %arg2[
// CHECK-NEXT:    [[I:%\w+]] = arith.index_cast [[N]]
// CHECK-NEXT:    util.list.get %arg0[[[I]]] : !util.list<?> -> !hal.buffer_view
// CHECK-NEXT:    hal.tensor.import {{.*}} : !hal.buffer_view -> tensor<4xf32>
// CHECK:         stablehlo.constant
// CHECK-NEXT:    stablehlo.multiply
// CHECK-NEXT:    stablehlo.add
// CHECK:         hal.tensor.export {{.*}} : tensor<4xf32> -> !hal.buffer_view
// CHECK-NEXT:    util.list.set %arg1[
// CHECK-NEXT:    return

// Numbers in the list have no sign.
// CHECK:       func.func private @main.part_1(
// CHECK:         hal.tensor.import {{.*}} : !hal.buffer_view -> tensor<i8>
// CHECK-NEXT:    stablehlo.bitcast_convert
// CHECK-NEXT:    stablehlo.add

// CHECK-NOT:   private
// CHECK:       func.func @main(%arg0: !util.list<?>) -> !util.list<?> attributes {iree.reflection = {{.*}}irax.lists = "0,1,2,3,4"{{.*}}} {
// CHECK:         [[R:%\w+]] = util.list.create
// CHECK-NEXT:    util.list.resize
// CHECK:         [[T:%\w+]] = util.buffer.constant {{.*}}<[0, 2, 0]>
// CHECK-NEXT:    call @main.part(%arg0, [[R]], [[T]])
// CHECK:         [[U:%\w+]] = util.buffer.constant {{.*}}<[1, 3, 1]>
// CHECK-NEXT:    call @main.part(%arg0, [[R]], [[U]])
// CHECK:         call @main.part_1(%arg0, [[R]],
// CHECK:         [[N:%\w+]] = util.list.get %arg0
// CHECK:         util.list.set [[R]][{{.*}}], [[N]]
// CHECK:         return [[R]]
