"""Functions of `irax.numpy` in modules that are imported when first used."""

MODULES = ("fft", "linalg")
"""Namespaces of their own."""

_FAMILIES = {
    "calculus": "diff ediff1d gradient trapezoid unwrap",
    "shapes.choosing": "choose piecewise select",
    "products.convolution": "convolve correlate",
    "dlpack": "from_dlpack",
    "shapes.editing": (
        "append compress delete extract fill_diagonal insert place put put_along_axis resize "
        "trim_zeros"
    ),
    "aggregates.extremes": "minmax top_k",
    "files": "frombuffer fromfile fromfunction fromiter fromstring load save savez",
    "aggregates.histograms": (
        "bincount digitize histogram histogram2d histogram_bin_edges histogramdd"
    ),
    "indexing.tricks": (
        "c_ diag_indices_from index_exp ix_ mask_indices mgrid ogrid r_ ravel_multi_index s_ "
        "tril_indices_from triu_indices_from"
    ),
    "interpolation": "interp",
    "kinds": "isdtype",
    "products.labelled": "einsum einsum_path",
    "namespace_info": "__array_api_version__ __array_namespace_info__",
    "aggregates.nan_reductions": (
        "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum "
        "nanvar"
    ),
    "elementwise.number_parts": (
        "angle frexp gcd iscomplex isreal lcm ldexp modf nextafter packbits spacing unpackbits"
    ),
    "polynomials": (
        "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots vander"
    ),
    "printing": "array_repr array_str get_printoptions printoptions set_printoptions",
    "aggregates.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "sets": (
        "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts "
        "unique_inverse unique_values"
    ),
    "vectorization": "apply_along_axis apply_over_axes vectorize",
    "windows": "bartlett blackman hamming hanning i0 kaiser",
}

FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names.split()}
"""For each function, the module that has it."""
