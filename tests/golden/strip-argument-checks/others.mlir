// RUN: --pipeline "strip-argument-checks"

// Whoever calls a function that is not marked may give it anything, by any driver.
util.func public @of_anybody(%x: !hal.buffer_view, %device: !hal.device)
    attributes {iree.reflection = {irax.driver = "sync"}} {
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
// CHECK-LABEL: util.func public @of_anybody
// CHECK:         hal.buffer_view.assert
// CHECK:         hal.fence.create
// CHECK:         hal.fence.await
