"""Parameters of C functions, read from their text: of the case's C file and of the header that `tune` writes."""
import ctypes
import dataclasses
import re

SCALARS = {
    "int": ctypes.c_int, "unsigned": ctypes.c_uint, "unsigned int": ctypes.c_uint,
    "long": ctypes.c_long, "long long": ctypes.c_longlong, "unsigned long long": ctypes.c_ulonglong,
    "size_t": ctypes.c_size_t, "float": ctypes.c_float, "double": ctypes.c_double,
}


class PrototypeError(Exception):
    """The function is not in the text, or has a parameter of a type that is not known here."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    type: str
    name: str

    @property
    def pointer(self):
        return "*" in self.type or self.type == "cudaStream_t"

    @property
    def ctype(self):
        if self.pointer:
            return ctypes.c_void_p
        plain = self.type.removeprefix("const ").strip()
        if plain not in SCALARS:
            raise PrototypeError(f"parameter `{self.name}` has the type `{plain}`, which is not known here")
        return SCALARS[plain]

    def declaration(self):
        return self.type + ("" if self.type.endswith("*") else " ") + self.name


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def parameters(text, function):
    """The parameters of a function in their order; arrays in brackets count as pointers."""
    found = re.search(rf"\b\w+\s+{re.escape(function)}\s*\(", without_comments(text))
    if not found:
        raise PrototypeError(f"no function `{function}`")
    rest = without_comments(text)[found.end():]
    depth, end = 1, 0
    while depth and end < len(rest):
        depth += {"(": 1, ")": -1}.get(rest[end], 0)
        end += 1
    if depth:
        raise PrototypeError(f"`{function}` has no closing parenthesis")
    return [parameter(part) for part in top_level_parts(rest[:end - 1])]


def top_level_parts(text):
    """What stands between commas that are in no bracket."""
    parts, depth, current = [], 0, ""
    for char in text:
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    parts.append(current)
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def parameter(text):
    """`const float A[n][k]` and `const float *A` are the same."""
    plain = " ".join(text.split("[", 1)[0].split())
    match = re.fullmatch(r"(.*?)(\w+)", plain)
    if not match or not match.group(1).strip():
        raise PrototypeError(f"`{text}` is no parameter with a name")
    kind = match.group(1).strip()
    if "[" in text:
        kind += " *"
    return Parameter(kind, match.group(2))
