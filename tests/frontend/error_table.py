"""Calls that raise the errors of docstrings which no change of the example's arguments raises.

The functions of `test_documented_errors.py` are called as in their examples; what is here is for
the others, and for errors under transformations.
"""

from __future__ import annotations

from irax.numpy import scalars

TRACED = {
    "arange": "x",
    "bincount": "jnp.int32(x)",
    "choose": "jnp.int32(x), [x, x, x]",
    "compress": "x, x",
    "delete": "x, jnp.int32(x)",
    "nonzero": "x",
    "where": "x",
    "ravel_multi_index": "[jnp.int32(x)], (3,)",
    "repeat": "x, jnp.int32(x)",
    "roots": "x",
    "trim_zeros": "x",
    "unique": "x",
}
UNBOUND = "lax.{0}(jnp.ones(2), 'i'{1})"
IN_LANES = "irax.vmap(lambda x: lax.{0}(x, 'i'{1}), axis_name='i')(jnp.ones((2, 2)))"
IN_GROUPS = (
    "irax.vmap(irax.vmap(lambda x: lax.{0}(x, ('i', 'j'){1}, axis_index_groups=[[0, 1]]),"
    " axis_name='i'), axis_name='j')(jnp.ones((2, 2, 2)))"
)
COLLECTIVES = {
    "all_gather": [(UNBOUND, ""), (IN_LANES, ", axis=7"), (IN_GROUPS, "")],
    "all_to_all": [(IN_GROUPS, ", 0, 0")],
    "pbroadcast": [(UNBOUND, ", 0"), (IN_LANES, ", 9")],
    "pmax": [(UNBOUND, "")],
    "pmean": [(UNBOUND, "")],
    "pmin": [(UNBOUND, "")],
    "ppermute": [(UNBOUND, ", [(0, 0)]"), (IN_LANES, ", [(0, 9)]")],
    "pshuffle": [(IN_LANES, ", [0, 9]")],
    "psum": [(UNBOUND, ""), (IN_GROUPS, "")],
    "psum_scatter": [(UNBOUND, ""), (IN_LANES, ", scatter_dimension=7"), (IN_GROUPS, "")],
}
GROUPED = "lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])"
CONTAINER = (
    "type('A', (), dict.fromkeys("
    "['tree_flatten', 'tree_unflatten', 'tree_flatten_with_keys'], abs))"
)
PROVOKED: dict[str, list[str]] = {
    **{
        f"irax.numpy.{name}": [f"jnp.{name}(jnp.ones(2), jnp.ones((3, 3)))"]
        for name in ("floor_divide", "logaddexp", "logaddexp2", "nextafter", "remainder", "mod")
    },
    **{
        f"irax.numpy.{name}": [f"irax.eval_shape(lambda x: jnp.{name}({operands}), jnp.ones(3))"]
        for name, operands in TRACED.items()
    },
    **{
        f"irax.numpy.{dtype.__name__}": [f"jnp.{dtype.__name__}('text')"]
        for dtype in vars(scalars).values()
        if isinstance(dtype, scalars.ScalarType)
    },
    **{
        f"irax.lax.{name}": [call.format(name, rest) for call, rest in calls]
        for name, calls in COLLECTIVES.items()
    },
    **{
        f"irax.nn.initializers.{family}_{kind}": [
            f"irax.nn.initializers.{family}_{kind}()(irax.random.key(0), (2,))"
        ]
        for family in ("glorot", "he", "lecun")
        for kind in ("normal", "uniform")
    },
    **{
        f"irax.tree_util.{name}": [f"irax.tree_util.{name}({decorated})"]
        for name, decorated in {
            "register_pytree_node_class": f"irax.tree_util.register_pytree_node_class({CONTAINER})",
            "register_pytree_with_keys_class": (
                f"irax.tree_util.register_pytree_with_keys_class({CONTAINER})"
            ),
            "register_static": "tuple",
        }.items()
    },
    "irax.tree_util.register_pytree_node": ["irax.tree_util.register_pytree_node(dict, abs, abs)"],
    "irax.numpy.full": ["jnp.full(2, 300, 'uint8')"],
    "irax.numpy.full_like": ["jnp.full_like(jnp.ones(2, 'uint8'), 300)"],
    "irax.lax.full": ["lax.full((2,), 300, 'uint8')"],
    "irax.lax.full_like": ["lax.full_like(jnp.ones(2, 'uint8'), 300)"],
    "irax.lax.pad": ["lax.pad(jnp.ones(2, 'uint8'), 300, [(1, 1, 0)])"],
    "irax.lax.dynamic_update_index_in_dim": [
        "lax.dynamic_update_index_in_dim(jnp.ones(2, 'uint8'), 300, 0, 0)"
    ],
    "irax.test_util.check_grads": [
        "irax.test_util.check_grads(lambda x: x + lax.stop_gradient(x), (1.0,), 1)"
    ],
    "irax.jit": ["irax.jit(jnp.sin, backend='text')(1.0)"],
    "irax.linear_transpose": ["irax.linear_transpose(jnp.sin, 1.0)(1.0)"],
    "irax.sharding.no_collectives": ["irax.sharding.no_collectives('x').__enter__()"],
    "irax.named_scope": ["irax.named_scope(1).__enter__()"],
    "irax.shard_map": [
        "irax.shard_map(jnp.sin, mesh=irax.make_mesh((1,), ('i',)), in_specs=irax.P('i'),"
        " out_specs=irax.P())(1.0)",
        "irax.export.export(irax.jit(irax.shard_map(jnp.sin, mesh=irax.make_mesh((1,), ('i',)),"
        " in_specs=irax.P('i'), out_specs=irax.P('i'))))("
        "irax.ShapeDtypeStruct(irax.export.symbolic_shape('n'), 'float32'))",
    ],
    "irax.tree_flatten": ["irax.tree.flatten({1: 0, 'a': 1})"],
    "irax.tree.flatten": ["irax.tree.flatten({1: 0, 'a': 1})"],
    "irax.tree_util.tree_flatten": ["irax.tree.flatten({1: 0, 'a': 1})"],
    "irax.tree.static": ["irax.tree.static(text=1)"],
    "irax.tree_util.register_dataclass": [
        "irax.tree_util.register_dataclass(tuple, [], [])",
        "irax.tree_util.register_dataclass(type('A', (), {}))",
    ],
    "irax.vmap": ["irax.vmap(jnp.add)(jnp.ones(2), jnp.ones(3))"],
    "irax.pure_callback": [
        "irax.pure_callback(np.sin, irax.ShapeDtypeStruct((), 'float32'), 'text')",
        "irax.pure_callback(np.sin, irax.ShapeDtypeStruct((), 'float32'), 1.0, vmap_method='x')",
        "irax.vmap(lambda x: irax.pure_callback(np.sin, x, x))(jnp.ones(2))",
    ],
    "irax.experimental.io_callback": [
        "irax.experimental.io_callback(np.sin, irax.ShapeDtypeStruct((), 'float32'), 'text')",
        "irax.vmap(lambda x: irax.experimental.io_callback(np.sin, x, x, ordered=True))"
        "(jnp.ones(2))",
    ],
    "irax.numpy.fromfile": ["jnp.fromfile('text')"],
    "irax.numpy.fromiter": ["jnp.fromiter([1], 'int32')"],
    "irax.numpy.promote_types": ["jnp.promote_types('float8_e4m3fn', 'float8_e5m2')"],
    "irax.dtypes.promote_types": ["jnp.promote_types('float8_e4m3fn', 'float8_e5m2')"],
    "irax.dtypes.lattice_result_type": [
        "irax.dtypes.lattice_result_type(jnp.float8_e4m3fn(1), jnp.float8_e5m2(1))",
        "irax.dtypes.lattice_result_type()",
    ],
    "irax.dtypes.scalar_to_array": ["irax.dtypes.scalar_to_array(2**70)"],
    "irax.scipy.integrate.trapezoid": [
        "irax.scipy.integrate.trapezoid('text')",
        "irax.scipy.integrate.trapezoid(1.0)",
    ],
    "irax.profiler.trace": ["irax.profiler.trace('absent', create_perfetto_link=True).__enter__()"],
    "irax.sharding.auto_axes": [
        f"irax.sharding.auto_axes(jnp.sin{axes})(jnp.ones(1))"
        for axes in ("", ", axes='i', out_sharding=irax.P()")
    ],
    "irax.sharding.explicit_axes": [
        f"irax.sharding.explicit_axes(jnp.sin{axes})(jnp.ones(1))"
        for axes in ("", ", axes='i', in_sharding=irax.P()")
    ],
    "irax.custom_derivatives.linear_call": [
        "irax.grad(lambda r: irax.custom_derivatives.linear_call(jnp.multiply, jnp.multiply, r,"
        " 2.0))(1.0)",
        "irax.grad(lambda x: irax.custom_derivatives.linear_call(jnp.multiply,"
        " lambda r, x: jnp.ones(3), 1.0, x))(1.0)",
    ],
    "irax.experimental.checkify.check_error": [
        "irax.experimental.checkify.check_error(irax.experimental.checkify.checkify("
        "lambda x: irax.experimental.checkify.check(x > 1, 'small'))(0.0)[0])"
    ],
    "irax.random.PRNGKey": ["irax.random.PRNGKey(2**70)"],
    "irax.numpy.array": ["jnp.array(2**70)"],
    "irax.numpy.resize": ["jnp.resize(jnp.ones(2), (-1,))"],
    "irax.numpy.float_power": ["jnp.float_power(jnp.ones(2), jnp.ones((3, 3)))"],
    "irax.numpy.save": ["jnp.save(io.BytesIO(), jnp.float8_e5m2(1))"],
    "irax.numpy.load": [
        "jnp.load('absent.npy')",
        "jnp.load(io.BytesIO(b'nothing'))",
        "jnp.load(io.BytesIO())",
    ],
    "irax.export.load": ["irax.export.load('absent.irax')", "irax.export.load(io.__file__)"],
    "irax.lax.broadcasted_iota": ["lax.broadcasted_iota('int32', (2**31 + 1,), 0)"],
    "irax.dtypes.requested_dtype": ["irax.dtypes.requested_dtype(jnp.ones(2), 'f')"],
    "irax.lax.psend": [
        "lax.psend(1.0, 'i', [(0, 0)])",
        "irax.vmap(lambda x: lax.psend('text', 'i', [(0, 0)]), axis_name='i')(jnp.ones(1))",
    ],
    "irax.lax.precv": [
        "lax.precv(None, irax.typeof(1.0), 'i', [(0, 0)])",
        "irax.vmap(lambda x: lax.precv(None, x, 'i', [(0, 0)]), axis_name='i')(jnp.ones(1))",
    ],
    "irax.lax.pcast": [
        "lax.pcast(jnp.ones(2), 'i', to='varying')",
        "irax.shard_map(lambda x: lax.pcast(x, 'i', to='text'), mesh=irax.make_mesh((1,), ('i',)),"
        " in_specs=irax.P(), out_specs=irax.P('i'))(jnp.ones(1))",
    ],
    "irax.scipy.special.logsumexp": [
        "irax.scipy.special.logsumexp('text')",
        "irax.scipy.special.logsumexp(1.0, 1)",
    ],
    "irax.numpy.savez": ["jnp.savez(io.BytesIO(), jnp.bfloat16(1))"],
    "irax.numpy.linalg.matmul": [
        "jnp.linalg.matmul('text', jnp.ones(2))",
        "jnp.linalg.matmul(1.0, jnp.ones(2))",
    ],
    "irax.numpy.linalg.tensordot": ["jnp.linalg.tensordot('text', jnp.ones(2))"],
    "irax.numpy.linalg.vecdot": ["jnp.linalg.vecdot('text', jnp.ones(2))"],
    "irax.lax.conv_dimension_numbers": [
        "lax.conv_dimension_numbers((1, 8), (5, 3),"
        " lax.ConvDimensionNumbers((0, 0), (0, 1), (0, 1)))"
    ],
    "irax.lax.conv_with_general_padding": [
        "lax.conv_with_general_padding('text', jnp.ones((1, 1, 2)), (1,), 'VALID', None, None)",
        "lax.conv_with_general_padding(jnp.ones((1, 1, 2)), jnp.ones((1, 1, 2)), (0,), 'VALID',"
        " None, None)",
    ],
    "irax.ds": ["irax.ds('text', 2)", "irax.ds(0, -1)"],
    "irax.lax.cond": ["lax.cond(True, lambda r: r, lambda r: r, irax.new_ref(1.0))"],
    "irax.lax.custom_root": [
        f"lax.custom_root(jnp.sin, 1.0, lambda f, x: {found}, lambda g, y: y / g(1.0))"
        for found in ("'text'", "jnp.ones(3)")
    ],
    "irax.make_array_from_process_local_data": [
        "irax.make_array_from_process_local_data(irax.P('i'), np.ones(2))"
    ],
    "irax.lax.ragged_all_to_all": [
        "lax.ragged_all_to_all(*[jnp.ones(2)] * 2, *[jnp.ones(2, int)] * 4, axis_name='i')"
    ],
    "irax.lax.ragged_dot_general": [
        f"lax.ragged_dot_general(jnp.ones((3, 2)), {rhs}, jnp.array([1, 2]), {GROUPED}{offset})"
        for rhs, offset in {
            "jnp.ones((2, 5, 1))": "",
            "jnp.ones((2, 2, 1))": ", None, None, 1",
        }.items()
    ],
    "irax.lax.reduce": ["lax.reduce(jnp.ones(3), 0.0, lambda x, y: jnp.stack([x, y])[0], (0,))"],
    "irax.lax.reduce_window": [
        "lax.reduce_window(jnp.ones(3), 0.0, lambda x, y: jnp.stack([x, y])[0], (2,))"
    ],
    "irax.lax.scatter_apply": [
        "irax.jit(lambda z: lax.scatter_apply(jnp.ones(3), jnp.array([[2], [1]]), lambda y: y * z,"
        " lax.ScatterDimensionNumbers((), (0,), (0,)), update_shape=(2,)))(2.0)"
    ],
    "irax.lax.scan": ["irax.jit(lambda n: lax.scan(lambda c, x: (c, x), 0, None, n))(3)"],
    "irax.lax.select_n": ["lax.select_n(jnp.ones(2, bool), jnp.ones(2), jnp.ones(3))"],
    "irax.lax.tile": ["lax.tile(jnp.arange(2), (-1,))"],
    "irax.lax.with_sharding_constraint": ["lax.with_sharding_constraint(jnp.ones(2), irax.P('i'))"],
    "irax.nn.dot_product_attention": [
        "irax.nn.dot_product_attention(*[jnp.ones((2, 5, 4, 3))] * 3, implementation='cudnn')"
    ],
    "irax.nn.one_hot": ["irax.jit(lambda n: irax.nn.one_hot(jnp.arange(2), n))(3)"],
    "irax.nn.squareplus": ["irax.nn.squareplus(jnp.ones(2), jnp.ones((3, 3)))"],
    "irax.nn.initializers.orthogonal": [
        "irax.nn.initializers.orthogonal()(irax.random.key(0), (2,))"
    ],
    "irax.nn.initializers.delta_orthogonal": [
        "irax.nn.initializers.delta_orthogonal()(irax.random.key(0), (2,))"
    ],
    "irax.ops.segment_sum": [
        "irax.jit(lambda x: irax.ops.segment_sum(jnp.ones(2), x))(jnp.array([0, 1]))"
    ],
    "irax.debug.breakpoint": ["irax.debug.breakpoint(backend='text')"],
    "irax.debug.callback": ["irax.debug.callback(1)"],
    "irax.debug.print": [
        *("irax.debug.print(1)", "irax.debug.print('', 1)", "irax.debug.print('{}')"),
        "irax.debug.print('{a}')",
    ],
    "irax.debug.inspect_array_sharding": [
        "irax.jit(lambda x: irax.debug.inspect_array_sharding(x, callback=print))(1.0)"
    ],
    "irax.debug.visualize_array_sharding": [
        "irax.jit(irax.debug.visualize_array_sharding)(jnp.ones(2))"
    ],
    "irax.export.export": [
        "irax.export.export(irax.jit(lambda x: irax.pure_callback(np.sin, x, x)))(1.0)"
    ],
    "irax.export.register_namedtuple_serialization": [
        "irax.export.register_namedtuple_serialization(tuple, serialized_name='tuple')"
    ],
    "irax.export.register_pytree_node_serialization": [
        "irax.export.register_pytree_node_serialization(set, serialized_name='set',"
        " serialize_auxdata=str, deserialize_auxdata=str)"
    ],
    "irax.scipy.special.sph_harm_y": [
        "irax.jit(irax.scipy.special.sph_harm_y)(*[jnp.ones(1, int)] * 2, *[jnp.ones(1)] * 2)"
    ],
    "irax.scipy.linalg.block_diag": ["irax.scipy.linalg.block_diag(jnp.ones((1, 1, 1)))"],
    "irax.scipy.stats.mode": ["stats.mode(jnp.ones(2), nan_policy='omit')"],
    "irax.profiler.stop_trace": ["irax.profiler.stop_trace()"],
    "irax.profiler.stop_server": ["irax.profiler.stop_server()"],
    "irax.experimental.checkify.check": [
        "irax.experimental.checkify.check('text', 'message')",
        "irax.experimental.checkify.check(False, 'message')",
    ],
    "irax.extend.core.concrete_or_error": [
        "irax.jit(lambda x: irax.extend.core.concrete_or_error(int, x))(1)"
    ],
    "irax.extend.core.set_current_trace": ["irax.extend.core.set_current_trace(1).__enter__()"],
    "irax.checking_leaks": ["irax.checking_leaks('text')"],
    "irax.use_abstract_mesh": ["irax.use_abstract_mesh(3).__enter__()"],
    "irax.get_mesh": ["irax.jit(lambda x: (irax.get_mesh(), x)[1])(1.0)"],
    "irax.lax.polynomial": ["lax.polynomial(jnp.ones(2), [jnp.ones(3)])"],
    "irax.sharding.use_abstract_mesh": ["irax.sharding.use_abstract_mesh(3).__enter__()"],
    "irax.sharding.get_mesh": ["irax.jit(lambda x: (irax.sharding.get_mesh(), x)[1])(1.0)"],
}
"""Calls that raise errors that no change of one argument of the example raises."""
NOT_HERE = {
    "irax.device_put": {"UnexpectedTracerError"},
    "irax.numpy.from_dlpack": {"BufferError"},
    "irax.numpy.repeat": {"ShardingTypeError"},
    "irax.lax.with_sharding_constraint": {"AssertionError"},
    "irax.debug.breakpoint": {"RuntimeError"},
    "irax.extend.core.check_jaxpr": {"JaxprTypeError"},
    "irax.profiler.trace": {"RuntimeError"},
    "irax.profiler.start_server": {"OSError", "ValueError"},
    "irax.profiler.export_profile_data": {"NotImplementedError", "ValueError"},
    "irax.ffi.ffi_call": {"NotImplementedError", "TypeError", "ValueError"},
    "irax.ffi.ffi_lowering": {"NotImplementedError", "TypeError"},
    "irax.ffi.register_ffi_target": {"ValueError"},
    "irax.test_util.check_jvp": {"AssertionError"},
    "irax.test_util.check_vjp": {"AssertionError"},
    "irax.distributed.initialize": {"RuntimeError", "ValueError"},
}
"""Errors that other tests raise, or that depend on the machine."""
