"""The GPU through the library made of device.cu: memory, time and the two limits, with or without PyTorch."""
import ctypes
import math
import pathlib

SOURCE = pathlib.Path(__file__).with_name("device.cu")
HELD_CYCLES = 200_000  # a tenth of a millisecond: more than a launch through Python takes
FMA_ROUNDS = 8192


class DeviceError(Exception):
    """The driver refused; the text is its own."""


class Memory:
    """An array of floats that lies on the device."""

    def __init__(self, device, shape, pointer, tensor=None):
        self.device, self.shape, self.pointer, self.tensor = device, tuple(shape), pointer, tensor
        self.count = math.prod(self.shape)

    def fill(self, seed):
        self.device.call("device_fill", ctypes.c_void_p(self.pointer), ctypes.c_size_t(self.count),
                         ctypes.c_uint(seed))

    def poison(self):
        self.device.call("device_poison", ctypes.c_void_p(self.pointer), ctypes.c_size_t(4 * self.count))

    def upload(self, values):
        data = (ctypes.c_float * self.count)(*values)
        self.device.call("device_upload", ctypes.c_void_p(self.pointer), data, ctypes.c_size_t(4 * self.count))

    def download(self):
        """The elements as a list of Python's floats: for small arrays."""
        data = (ctypes.c_float * self.count)()
        self.device.call("device_download", data, ctypes.c_void_p(self.pointer), ctypes.c_size_t(4 * self.count))
        return list(data)

    def free(self):
        if self.tensor is None:
            self.device.call("device_free", ctypes.c_void_p(self.pointer))
        self.tensor = None


class Device:
    """The first GPU. With PyTorch its arrays are tensors, so that nothing is copied for the peers."""

    def __init__(self, library, torch=None):
        self.library = ctypes.CDLL(str(library))
        self.library.device_error.restype = ctypes.c_char_p
        self.torch = torch
        self.sink = self.allocate((1,))

    def call(self, function, *arguments):
        code = getattr(self.library, function)(*arguments)
        if code:
            raise DeviceError(f"{function}: {self.library.device_error(code).decode()}")

    def allocate(self, shape):
        """Uninitialised floats."""
        if self.torch is not None:
            tensor = self.torch.empty(tuple(shape), dtype=self.torch.float32, device="cuda")
            return Memory(self, shape, tensor.data_ptr(), tensor)
        pointer = ctypes.c_void_p()
        self.call("device_malloc", ctypes.byref(pointer), ctypes.c_size_t(4 * math.prod(shape)))
        return Memory(self, shape, pointer.value)

    def synchronize(self):
        self.call("device_synchronize")

    def flush(self):
        self.call("device_flush")

    def hold(self, cycles=HELD_CYCLES):
        self.call("device_hold", ctypes.c_longlong(cycles))

    def event(self):
        event = ctypes.c_void_p()
        self.call("event_create", ctypes.byref(event))
        return event

    def record(self, event):
        self.call("event_record", event)

    def elapsed(self, start, stop):
        """Milliseconds between two recorded events; waits for the second."""
        milliseconds = ctypes.c_float()
        self.call("event_elapsed", ctypes.byref(milliseconds), start, stop)
        return milliseconds.value

    def copy(self, to, source):
        self.call("device_copy", ctypes.c_void_p(to.pointer), ctypes.c_void_p(source.pointer),
                  ctypes.c_size_t(4 * source.count))

    def fma(self, rounds=FMA_ROUNDS):
        """Starts multiply-adds at the highest rate; returns how many operations they are."""
        operations = ctypes.c_double()
        self.call("device_fma", ctypes.c_void_p(self.sink.pointer), ctypes.c_int(rounds), ctypes.byref(operations))
        return operations.value
