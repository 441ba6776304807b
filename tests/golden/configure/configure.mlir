// RUN: --pipeline "configure"

#map = affine_map<(d0) -> (d0)>
#parallel = #iree_cpu.lowering_config<distribution = [4096], vector_common_parallel = [8]>
#masked = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>

// A kernel of a generic operation has loops of its own for what does not fill a vector. Vectors are
// of 64 bytes.
// CHECK-DAG: #[[WIDE:.*]] = #iree_cpu.lowering_config<distribution = [4096], vector_common_parallel = [16]>
// CHECK-DAG: #[[TILES:.*]] = #iree_cpu.lowering_config<distribution = [25, 40], vector_common_parallel = [8, 8]>
// CHECK-DAG: #[[ROWS:.*]] = #iree_cpu.lowering_config<distribution = [1, 4, 1000], vector_common_parallel = [1, 1, 64]>
// CHECK-DAG: #[[NARROW:.*]] = #iree_cpu.lowering_config<distribution = [2500], vector_common_parallel = [8]>
// CHECK: #[[PEELED:.*]] = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>, {enable_loop_peeling}>
// CHECK: #[[MASKED:.*]] = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>
// CHECK: #[[OTHER:.*]] = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<Default>>
// CHECK: func.func @generic() attributes {translation_info = #[[PEELED]]}
func.func @generic() attributes {translation_info = #masked} {
  %x = tensor.empty() : tensor<1001xf32>
  %y = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%x : tensor<1001xf32>) attrs = {lowering_config = #parallel} {
  ^bb0(%out: f32):
    %n = arith.negf %out : f32
    linalg.yield %n : f32
  } -> tensor<1001xf32>
  return
}

// The tile of rows that are repeated is of consecutive elements.
// CHECK: func.func @repeated()
// CHECK: attrs =  {lowering_config = #[[ROWS]]}
func.func @repeated() attributes {translation_info = #masked} {
  %x = tensor.empty() : tensor<50x1000xi8>
  %y = tensor.empty() : tensor<50x4x1000xi8>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<50x1000xi8>) outs(%y : tensor<50x4x1000xi8>) attrs = {lowering_config = #iree_cpu.lowering_config<distribution = [25, 4, 40], vector_common_parallel = [1, 1, 8]>} {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  } -> tensor<50x4x1000xi8>
  return
}

// An array that is read in another order keeps its tiles.
// CHECK: func.func @transposed()
// CHECK: attrs =  {lowering_config = #[[TILES]]}
func.func @transposed() attributes {translation_info = #masked} {
  %x = tensor.empty() : tensor<1000x50xi8>
  %y = tensor.empty() : tensor<50x1000xi8>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1000x50xi8>) outs(%y : tensor<50x1000xi8>) attrs = {lowering_config = #iree_cpu.lowering_config<distribution = [25, 40], vector_common_parallel = [8, 8]>} {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  } -> tensor<50x1000xi8>
  return
}

// Vectors of elements that lie apart, which are read one by one, stay short.
// CHECK: func.func @apart(
// CHECK: attrs =  {lowering_config = #[[NARROW]]}
func.func @apart(%memory: memref<2500xf32, strided<[2]>>) attributes {translation_info = #masked} {
  %x = iree_codegen.load_from_buffer %memory : memref<2500xf32, strided<[2]>> -> tensor<2500xf32>
  %y = tensor.empty() : tensor<2500xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<2500xf32>) outs(%y : tensor<2500xf32>) attrs = {lowering_config = #iree_cpu.lowering_config<distribution = [2500], vector_common_parallel = [8]>} {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<2500xf32>
  return
}

// Layouts for products have tiles of their own.
// CHECK: func.func @layout() attributes {translation_info = #[[MASKED]]}
func.func @layout() attributes {translation_info = #masked} {
  %x = tensor.empty() : tensor<64x64xf32>
  %y = tensor.empty() : tensor<8x64x8x1xf32>
  %z = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 1] into %y {lowering_config = #iree_cpu.lowering_config<distribution = [16, 16]>} : tensor<64x64xf32> -> tensor<8x64x8x1xf32>
  return
}

// Other pipelines stay as they are.
// CHECK: func.func @other() attributes {translation_info = #[[OTHER]]}
func.func @other() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<Default>>} {
  return
}
