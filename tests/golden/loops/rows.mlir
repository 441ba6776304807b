// RUN: --pipeline "lower-counted-loops"

// The rows of a loop that is no kernel are put where they belong, 64 bytes apart.
func.func @main(%c: tensor<70008xf32>) -> tensor<6x70008xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<6x70008xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %c, %ys = %zeros) : tensor<i32>, tensor<70008xf32>, tensor<6x70008xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.sqrt %y : tensor<70008xf32>
    %new = stablehlo.reshape %z : (tensor<70008xf32>) -> tensor<1x70008xf32>
    %zs = stablehlo.dynamic_update_slice %ys, %new, %i, %zero : (tensor<6x70008xf32>, tensor<1x70008xf32>, tensor<i32>, tensor<i32>) -> tensor<6x70008xf32>
    stablehlo.return %j, %z, %zs : tensor<i32>, tensor<70008xf32>, tensor<6x70008xf32>
  }
  return %0#2 : tensor<6x70008xf32>
}
// CHECK-LABEL: func.func @main
// CHECK:       [[PADDED:%\w+]] = stablehlo.pad {{.*}} -> tensor<6x70016xf32>
// CHECK:       [[MEMORY:%\w+]] = hal.allocator.allocate
// CHECK:       [[START:%\w+]] = hal.tensor.alias [[PADDED]] : tensor<6x70016xf32> to [[MEMORY]]
// CHECK:       [[BUFFER:%\w+]] = hal.tensor.export [[START]]
// CHECK:       [[NONE:%\w+]] = util.null : !hal.fence
// CHECK:       [[LOOP:%\w+]]:3 = scf.for {{.*}}[[BEFORE:%\w+]] = [[NONE]]) -> (tensor<70008xf32>, tensor<1x70008xf32>, !hal.fence)
// CHECK:         [[PART:%\w+]] = hal.buffer.subspan<[[BUFFER]] : !hal.buffer>
// CHECK:         [[Z:%\w+]] = stablehlo.sqrt
// CHECK:         [[NEW:%\w+]] = stablehlo.reshape [[Z]]
// CHECK:         [[ROW:%\w+]] = hal.tensor.alias wait([[BEFORE]]) => [[NEW]] : tensor<1x70008xf32> to [[PART]]
// CHECK:         [[FENCE:%\w+]] = hal.fence.create
// CHECK:         [[WRITTEN:%\w+]] = hal.tensor.barrier join([[ROW]] : tensor<1x70008xf32>) => [[FENCE]]
// CHECK:         scf.yield [[Z]], [[WRITTEN]], [[FENCE]]
// CHECK:       hal.tensor.export [[LOOP]]#1
// CHECK:       hal.tensor.import {{.*}} -> tensor<6x70016xf32>
// CHECK:       stablehlo.slice {{.*}} -> tensor<6x70008xf32>
// CHECK-NOT:   dynamic_update_slice
