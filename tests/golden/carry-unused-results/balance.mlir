// RUN: --pipeline "carry-unused-results"

flow.executable private @k {
  flow.executable.export public @f
}

// The step has no use for the first result: the loop carries it, and is kept from dropping it.
util.func public @overwritten(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = scf.while (%x = %a) : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<f32>) -> tensor<f32>
    %2:2 = flow.dispatch @k::@f(%1) : (tensor<f32>) -> (tensor<f32>, tensor<i1>)
    %3 = flow.tensor.load %2#1 : tensor<i1>
    scf.condition(%3) %1, %2#0 : tensor<f32>, tensor<f32>
  } do {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    scf.yield %y : tensor<f32>
  }
  util.return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: util.func public @overwritten(
// CHECK:         [[E:%\w+]] = flow.tensor.empty : tensor<f32>
// CHECK:         scf.while ([[X:%\w+]] = [[A:%\w+]], [[C:%\w+]] = [[E]])
// CHECK-NEXT:      util.optimization_barrier [[C]] : tensor<f32>
// CHECK:           scf.condition
// CHECK:         ^bb0([[P:%\w+]]: tensor<f32>, [[Q:%\w+]]: tensor<f32>):
// CHECK-NEXT:      scf.yield [[Q]], [[P]] : tensor<f32>, tensor<f32>

// Nobody asks for the first result, which IREE removes.
util.func public @unused(%a: tensor<f32>) -> tensor<f32> {
  %0:2 = scf.while (%x = %a) : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<f32>) -> tensor<f32>
    %2:2 = flow.dispatch @k::@f(%1) : (tensor<f32>) -> (tensor<f32>, tensor<i1>)
    %3 = flow.tensor.load %2#1 : tensor<i1>
    scf.condition(%3) %1, %2#0 : tensor<f32>, tensor<f32>
  } do {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    scf.yield %y : tensor<f32>
  }
  util.return %0#1 : tensor<f32>
}
// CHECK-LABEL: util.func public @unused(
// CHECK-NOT:     flow.tensor.empty

// Just the first region reads the second array, and the step makes a new one: the loop returns it.
util.func public @read_first(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %0 = scf.while (%x = %a, %y = %b) : (tensor<f32>, tensor<2xf32>) -> tensor<f32> {
    %1:2 = flow.dispatch @k::@f(%x, %y) : (tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<i1>)
    %2 = flow.tensor.load %1#1 : tensor<i1>
    scf.condition(%2) %1#0 : tensor<f32>
  } do {
  ^bb0(%x: tensor<f32>):
    %1 = flow.dispatch @k::@f(%x) : (tensor<f32>) -> tensor<2xf32>
    scf.yield %x, %1 : tensor<f32>, tensor<2xf32>
  }
  util.return %0 : tensor<f32>
}
// CHECK-LABEL: util.func public @read_first(
// CHECK:         [[R:%\w+]]:2 = scf.while ({{.*}}, [[Y:%\w+]] = {{.*}}) : (tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
// CHECK:           scf.condition({{.*}}) {{.*}}, [[Y]] : tensor<f32>, tensor<2xf32>
// CHECK:         ^bb0({{.*}}: tensor<f32>, [[Z:%\w+]]: tensor<2xf32>):
// CHECK-NEXT:      util.optimization_barrier [[Z]] : tensor<2xf32>
// CHECK:         util.return [[R]]#0
