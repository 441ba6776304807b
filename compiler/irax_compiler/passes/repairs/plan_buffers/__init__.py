"""Buffer planning: offsets of the temporaries between the kernels of a program."""

from irax_compiler.passes.repairs.plan_buffers.plan_buffers import PlanBuffers as PlanBuffers
