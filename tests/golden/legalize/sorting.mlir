// The elements' places, as a further key, keep equal elements in order.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @stable_sort(%x: tensor<8xi32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a, %b = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<i32>, %1: tensor<i32>, %2: tensor<f32>, %3: tensor<f32>):
    %4 = stablehlo.compare LT, %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>)
  return %b : tensor<8xf32>
}
// CHECK:      func.func @stable_sort
// CHECK:        [[PLACES:%\w+]] = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK:        [[R:%\w+]]:3 = "stablehlo.sort"
// CHECK-SAME:     is_stable = false
// CHECK:          compare LT, %arg4, %arg5
// CHECK:          compare EQ, %arg2, %arg3
// CHECK:          compare LT, %arg2, %arg3
// CHECK:        return [[R]]#2

// An argsort has them already, in any integers.
func.func @sort_with_places(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi64>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi64>
  %a, %b = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<i32>, %1: tensor<i32>, %2: tensor<i64>, %3: tensor<i64>):
    %4 = stablehlo.compare LT, %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi64>) -> (tensor<8xi32>, tensor<8xi64>)
  return %a, %b : tensor<8xi32>, tensor<8xi64>
}
// CHECK:      func.func @sort_with_places
// CHECK:        [[R:%\w+]]:2 = "stablehlo.sort"
// CHECK:        return [[R]]#0, [[R]]#1

// Places other than int32 are a key of a sort that IREE would make a top_k, too.
func.func @top_k_with_wide_places(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi64>
  %a, %b = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%0: tensor<f32>, %1: tensor<f32>, %2: tensor<i64>, %3: tensor<i64>):
    %4 = stablehlo.compare GT, %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi64>) -> (tensor<8xf32>, tensor<8xi64>)
  %c = stablehlo.slice %a [0:2] : (tensor<8xf32>) -> tensor<2xf32>
  %d = stablehlo.slice %b [0:2] : (tensor<8xi64>) -> tensor<2xi64>
  return %c, %d : tensor<2xf32>, tensor<2xi64>
}
// CHECK:      func.func @top_k_with_wide_places
// CHECK:        "stablehlo.sort"(%{{.*}}, %{{.*}}, %{{.*}})

// Where they alone are read, a kernel finds the order.
func.func @argsort(%x: tensor<8xui32>) -> tensor<8xi64> {
  %i = stablehlo.iota dim = 0 : tensor<8xi64>
  %a, %b = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<ui32>, %1: tensor<ui32>, %2: tensor<i64>, %3: tensor<i64>):
    %4 = stablehlo.compare LT, %0, %1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<8xui32>, tensor<8xi64>) -> (tensor<8xui32>, tensor<8xi64>)
  return %b : tensor<8xi64>
}
// CHECK:      func.func @argsort
// CHECK:        [[ORDER:%\w+]] = flow.dispatch @order_2
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert [[ORDER]] : (tensor<8xi32>) -> tensor<8xi64>
// CHECK:        return [[WIDE]]

// One array twice is sorted once.
func.func @sort_of_repeated_operands(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %a, %b = "stablehlo.sort"(%x, %x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%0: tensor<i32>, %1: tensor<i32>, %2: tensor<i32>, %3: tensor<i32>):
    %4 = stablehlo.compare LT, %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  return %a, %b : tensor<8xi32>, tensor<8xi32>
}
// CHECK:      func.func @sort_of_repeated_operands
// CHECK:        [[R:%\w+]] = "stablehlo.sort"
// CHECK:        return [[R]], [[R]]

// A constant is not sorted in place.
func.func @sort_of_constant() -> tensor<2x2xi32> {
  %x = stablehlo.constant dense<[[4, 3], [2, 1]]> : tensor<2x2xi32>
  %a = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%0: tensor<i32>, %1: tensor<i32>):
    %2 = stablehlo.compare LT, %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return %a : tensor<2x2xi32>
}
// CHECK:      func.func @sort_of_constant
// CHECK:        [[X:%\w+]] = stablehlo.optimization_barrier
// CHECK:        [[COPY:%\w+]] = stablehlo.select {{%\w+}}, [[X]],
// CHECK:        "stablehlo.sort"([[COPY]])

// Long rows go to the host: numbers as they are,
func.func @sort_on_host(%x: tensor<2x64xbf16>) -> tensor<2x64xbf16> {
  %a = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<bf16>, %1: tensor<bf16>):
    %2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<2x64xbf16>) -> tensor<2x64xbf16>
  return %a : tensor<2x64xbf16>
}
// CHECK:      func.func @sort_on_host
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert %arg0 : {{.*}} -> tensor<2x64xf32>
// CHECK-NEXT:   [[SORTED:%\w+]] = stablehlo.custom_call @irax_host.sort([[WIDE]]) {{{.*}}backend_config = {dimension = 1 : i64}}
// CHECK-NEXT:   stablehlo.convert [[SORTED]]

// and anything else by keys that hold the place in their lower half.
func.func @argsort_on_host(%x: tensor<64xui16>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %a, %b = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<ui16>, %1: tensor<ui16>, %2: tensor<f32>, %3: tensor<f32>):
    %4 = stablehlo.compare LT, %0, %1 : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<64xui16>, tensor<64xf32>) -> (tensor<64xui16>, tensor<64xf32>)
  return %b : tensor<64xf32>
}
// CHECK:      func.func @argsort_on_host
// CHECK-DAG:    [[PLACE:%\w+]] = stablehlo.iota dim = 0 : tensor<64xui64>
// CHECK-DAG:    [[KEY:%\w+]] = stablehlo.convert %arg0 : {{.*}} -> tensor<64xui64>
// CHECK-DAG:    [[HIGH:%\w+]] = stablehlo.shift_left [[KEY]], {{.*}}
// CHECK:        [[BOTH:%\w+]] = stablehlo.or [[PLACE]], [[HIGH]]
// CHECK:        stablehlo.custom_call @irax_host.sort([[BOTH]])
// CHECK:        "stablehlo.gather"(%arg1

// Of which just the first are read, a kernel looks for those alone, or NumPy in short rows.
func.func @first_of_sorted(%x: tensor<2x100xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x100xi32>
  %a, %b = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<f32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<i32>):
    %4 = stablehlo.compare GT, %0, %1, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<2x100xf32>, tensor<2x100xi32>) -> (tensor<2x100xf32>, tensor<2x100xi32>)
  %c = stablehlo.slice %a [0:2, 0:3] : (tensor<2x100xf32>) -> tensor<2x3xf32>
  %d = stablehlo.slice %b [0:2, 0:3] : (tensor<2x100xi32>) -> tensor<2x3xi32>
  return %c, %d : tensor<2x3xf32>, tensor<2x3xi32>
}
// CHECK:      func.func @first_of_sorted
// CHECK-NOT:    stablehlo.sort
// CHECK:        [[PLACES:%\w+]] = stablehlo.custom_call @irax_host.first([[KEYS:%\w+]]) {{{.*}}backend_config = {count = 3 : i64, dimension = 1 : i64}} : (tensor<2x100xui32>) -> tensor<2x3xi32>
// CHECK:        [[VALUES:%\w+]] = "stablehlo.gather"(%arg0, [[PLACES]])
// CHECK-NEXT:   return [[VALUES]], [[PLACES]]

func.func @first_of_long_rows(%x: tensor<300x1000xui32>) -> tensor<300x3xui32> {
  %a = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<ui32>, %1: tensor<ui32>):
    %2 = stablehlo.compare LT, %0, %1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<300x1000xui32>) -> tensor<300x1000xui32>
  %b = stablehlo.slice %a [0:300, 0:3] : (tensor<300x1000xui32>) -> tensor<300x3xui32>
  return %b : tensor<300x3xui32>
}
// CHECK:      func.func @first_of_long_rows
// CHECK-NOT:    stablehlo.sort
// CHECK:        [[KEYS:%\w+]] = stablehlo.bitcast_convert %arg0 : (tensor<300x1000xui32>) -> tensor<300x1000xi32>
// CHECK:        [[PLACES:%\w+]] = flow.dispatch @first_2_[[HASH:\w+]]::@first_2_[[HASH]]([[KEYS]]) : (tensor<300x1000xi32>) -> tensor<300x3xi32>
// CHECK:        "stablehlo.gather"(%arg0, [[PLACES]])

// Short rows are ordered by a kernel, if there are many of them.
func.func @short_rows(%x: tensor<100x20xui32>, %y: tensor<100x20xf32>) -> (tensor<100x20xui32>, tensor<100x20xf32>) {
  %a:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%0: tensor<ui32>, %1: tensor<ui32>, %2: tensor<f32>, %3: tensor<f32>):
    %4 = stablehlo.compare LT, %0, %1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<100x20xui32>, tensor<100x20xf32>) -> (tensor<100x20xui32>, tensor<100x20xf32>)
  return %a#0, %a#1 : tensor<100x20xui32>, tensor<100x20xf32>
}
// CHECK:      func.func @short_rows
// CHECK-NOT:    stablehlo.sort
// CHECK:        [[ORDER:%\w+]] = flow.dispatch @order_2_{{.*}} : (tensor<100x20xi32>) -> tensor<100x20xi32>
// CHECK:        "stablehlo.gather"(%arg0, [[ORDER]])
// CHECK:        "stablehlo.gather"(%arg1, [[ORDER]])

// The bits of narrow floats are what is compared in the total order.
func.func @total_order_of_narrow(%x: tensor<9xbf16>) -> tensor<9xbf16> {
  %a = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%0: tensor<bf16>, %1: tensor<bf16>):
    %2 = stablehlo.compare LT, %0, %1, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<9xbf16>) -> tensor<9xbf16>
  return %a : tensor<9xbf16>
}
// CHECK:      func.func @total_order_of_narrow
// CHECK:        stablehlo.bitcast_convert %arg0 : (tensor<9xbf16>) -> tensor<9xui16>
// CHECK:        "stablehlo.sort"
// CHECK-NOT:      TOTALORDER
// CHECK:          compare LT, {{.*}} (tensor<ui16>, tensor<ui16>)

// This nan has the bits of a negative zero, and comes last all the same.
func.func @nan_with_a_sign(%x: tensor<9xf8E4M3FNUZ>) -> tensor<9xf8E4M3FNUZ> {
  %a = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%0: tensor<f8E4M3FNUZ>, %1: tensor<f8E4M3FNUZ>):
    %2 = stablehlo.compare LT, %0, %1 : (tensor<f8E4M3FNUZ>, tensor<f8E4M3FNUZ>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<9xf8E4M3FNUZ>) -> tensor<9xf8E4M3FNUZ>
  return %a : tensor<9xf8E4M3FNUZ>
}
// CHECK:      func.func @nan_with_a_sign
// CHECK:        stablehlo.convert %arg0 : (tensor<9xf8E4M3FNUZ>) -> tensor<9xf32>
// CHECK:        "stablehlo.sort"
// CHECK-NOT:      TOTALORDER
// CHECK:          compare LT, {{.*}} (tensor<ui32>, tensor<ui32>)
