"""Whether two implementations computed the same, up to the rounding that another order of a sum may cause.

Rounding of a sum of L terms grows like a random walk, with sqrt(L) units in the last place of the largest value;
four times that is allowed. NaN equals NaN and an infinity itself, nothing else.
"""
import math

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


def tolerance(largest, terms, dtype="float32"):
    """The difference that is allowed, `largest` being the largest magnitude of the reference."""
    return 4 * EPSILON[dtype] * math.sqrt(max(terms, 1)) * largest


def mismatch(values, reference, terms, dtype="float32"):
    """Why two sequences of numbers differ, or None. The first difference beyond the tolerance is named."""
    values, reference = list(values), list(reference)
    if len(values) != len(reference):
        return f"{len(values)} elements, expected {len(reference)}"
    largest = max((abs(r) for r in reference if math.isfinite(r)), default=0.0)
    allowed = tolerance(largest, terms, dtype)
    for position, (value, expected) in enumerate(zip(values, reference)):
        if not same(value, expected, allowed):
            return f"element {position} is {value:g}, expected {expected:g} within {allowed:.2g}"
    return None


def same(value, expected, allowed):
    if math.isnan(expected) or math.isnan(value):
        return math.isnan(expected) and math.isnan(value)
    if math.isinf(expected) or math.isinf(value):
        return value == expected
    return abs(value - expected) <= allowed


def tensors_mismatch(torch, value, reference, terms):
    """The same question for two PyTorch tensors, answered where they lie."""
    if value.shape != reference.shape:
        return f"shape {tuple(value.shape)}, expected {tuple(reference.shape)}"
    value, reference = value.reshape(-1), reference.reshape(-1)
    dtype = str(reference.dtype).removeprefix("torch.")
    finite = torch.where(torch.isfinite(reference), reference.abs(), 0)
    allowed = tolerance(float(finite.max()) if finite.numel() else 0.0, terms, dtype)
    del finite
    equal = (value - reference).abs() <= allowed
    equal |= value == reference
    equal |= torch.isnan(value) & torch.isnan(reference)
    if bool(equal.all()):
        return None
    wrong = int((~equal).sum())
    first = int((~equal).to(torch.uint8).argmax())
    found, expected = float(value[first]), float(reference[first])
    return (f"{wrong} of {equal.numel()} elements differ; element {first} is {found:g}, expected {expected:g} "
            f"within {allowed:.2g}")
