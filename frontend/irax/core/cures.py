"""Cures that errors tell of, where Python asks for the value of a traced array."""

from __future__ import annotations

from irax import errors

_FIXED = {
    "jit": "declare the argument static: jit(f, static_argnums=...) or jit(f, static_argnames=...)",
    "make_jaxpr": "declare the argument static: make_jaxpr(f, static_argnums=...)",
    "vmap": "map no axis of the argument: in_axes=None",
}
"""For each transformation, what keeps an argument a value that Python knows."""

_CURES: dict[type[Exception], str] = {
    errors.TracedArgumentError: "{fixed}",
    errors.TracerBoolConversionError: (
        "use irax.numpy.where(condition, a, b) or irax.lax.cond to choose by value, or {fixed}"
    ),
    errors.TracerIntegerConversionError: (
        "{fixed}, or index an irax array with it instead of a list"
    ),
    errors.ConcretizationTypeError: "keep it an array (irax.numpy functions take it), or {fixed}",
    errors.TracerArrayConversionError: (
        "use the function of irax.numpy in place of NumPy's, or move the call out of the "
        "transformed function"
    ),
}


def cure(error: type[Exception], kind: str, option: str = "") -> str:
    """Return a sentence that says what to do about an error in a function that is traced for a
    transformation: to give an `option`, if there is one.
    """
    fixed = _FIXED.get(kind, "take a number of Python's, from outside of the function")
    told = f"give {option}, or {fixed}" if option else _CURES[error].format(fixed=fixed)
    return f"{told[0].upper()}{told[1:]}."
