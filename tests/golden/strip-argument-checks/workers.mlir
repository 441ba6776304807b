// RUN: --pipeline "strip-argument-checks"

// The work of a function that workers do is waited for.
util.func public @with_workers(%x: !hal.buffer_view, %device: !hal.device)
    attributes {iree.reflection = {irax.driver = "task", irax.direct = "1"}} {
  %c3 = arith.constant 3 : index
  %forever = arith.constant -1 : i32
  %element = hal.element_type<f32> : i32
  %encoding = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%x : !hal.buffer_view> message("input0") shape([%c3]) type(%element) encoding(%encoding)
  %done = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  %status = hal.fence.await until([%done]) timeout_millis(%forever) flags("None") : i32
  util.status.check_ok %status, "failed to wait on timepoint"
  util.return
}
// CHECK-LABEL: util.func public @with_workers
// CHECK-NOT:     hal.buffer_view.assert
// CHECK:         [[DONE:%\w+]] = hal.fence.create
// CHECK:         hal.fence.await until({{.}}[[DONE]]])
// CHECK:         util.status.check_ok
