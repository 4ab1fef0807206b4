"""Vectors of numbers for compiled loops, held in registers: what the compiler cannot find in a loop is said to it.

A loop over columns with an array as its accumulator loads and stores that array in every round. With these operations
an accumulator is a value of a fixed number of lanes, which stays in registers over a loop of any length, and 512-bit
instructions are used where the machine has them. To the compiler's back end a vector of any number of lanes is legal on
any machine: it is cut into as many registers as it takes.

The number of lanes is part of the type. Where a function makes a vector, it is given by `width`, a tuple of as many
numbers as the vector has units of `UNIT` lanes; their values do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic, models, register_model

UNIT = 16
REGISTERS = {"avx512f": 4, "avx2": 2}
"""Units of the widest vector of which four fit into the registers of a machine with such a feature; else one does."""


class Vector(types.Type):  # type: ignore[misc]
    """Some numbers of one type."""

    def __init__(self, element: Any, lanes: int) -> None:
        self.element, self.lanes = element, lanes
        super().__init__(name=f"Vector({element}, {lanes})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    """A vector is a vector of the compiler's back end."""

    def __init__(self, manager: Any, kind: Vector) -> None:
        element = manager.lookup(kind.element).get_value_type()
        super().__init__(manager, kind, ir.VectorType(element, kind.lanes))


@cache
def widest() -> int:
    """Units of a vector that this machine holds four of in its registers, with room for others."""
    features = llvmlite.binding.get_host_cpu_features()
    return next((units for name, units in REGISTERS.items() if features.get(name)), 1)


@intrinsic
def load(_: Any, array: Any, row: Any, column: Any, width: Any) -> Any:
    """The numbers of a row of a table, from a column on."""
    signature = Vector(array.dtype, UNIT * len(width))(array, row, column, width)

    def generate(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        return builder.load(_address(context, builder, signature, values), align=array.dtype.bitwidth // 8)

    return signature, generate


@intrinsic
def store(_: Any, array: Any, row: Any, column: Any, vector: Any) -> Any:
    """Write the numbers to a row of a table, from a column on."""

    def generate(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        address = _address(context, builder, signature, values, signature.args[3])
        builder.store(values[3], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, row, column, vector), generate


@intrinsic
def filled(_: Any, number: Any, width: Any) -> Any:
    """The same number in all lanes."""
    lanes = UNIT * len(width)

    def generate(_context: Any, builder: Any, _signature: Any, values: Sequence[Any]) -> Any:
        nothing = ir.Constant(ir.VectorType(values[0].type, lanes), ir.Undefined)
        first = builder.insert_element(nothing, values[0], ir.Constant(ir.IntType(32), 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        return builder.shuffle_vector(first, nothing, places)

    return Vector(number, lanes)(number, width), generate


def _elementwise(count: int, emit: Callable[[Any, Any, Sequence[Any]], Any]) -> Any:
    """An operation on `count` vectors of one type, lane by lane."""

    def generate(_context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        return emit(builder, signature.return_type, values)

    def one(_: Any, a: Any) -> Any:
        return a(a), generate

    def two(_: Any, a: Any, b: Any) -> Any:
        return a(a, b), generate

    def three(_: Any, a: Any, b: Any, c: Any) -> Any:
        return a(a, b, c), generate

    return intrinsic((one, two, three)[count - 1])


def _named(name: str) -> Callable[[Any, Any, Sequence[Any]], Any]:
    """An operation that the back end knows by name."""

    def emit(builder: Any, kind: Any, values: Sequence[Any]) -> Any:
        vector = values[0].type
        signature = ir.FunctionType(vector, [vector] * len(values))
        full = f"llvm.{name}.v{kind.lanes}f{kind.element.bitwidth}"
        return builder.call(cgutils.get_or_insert_function(builder.module, signature, full), values)

    return emit


def _chosen(sign: str) -> Callable[[Any, Any, Sequence[Any]], Any]:
    """The first value where it compares so to the second, which the machine does in one instruction."""
    return lambda builder, _, values: builder.select(builder.fcmp_ordered(sign, *values), *values)


add = _elementwise(2, lambda builder, _, values: builder.fadd(*values))
subtract = _elementwise(2, lambda builder, _, values: builder.fsub(*values))
multiply = _elementwise(2, lambda builder, _, values: builder.fmul(*values))
larger = _elementwise(2, _chosen(">"))
smaller = _elementwise(2, _chosen("<"))
square_root = _elementwise(1, _named("sqrt"))
multiply_add = _elementwise(3, _named("fmuladd"))
"""a * b + c."""


def _address(context: Any, builder: Any, signature: Any, values: Sequence[Any], kind: Any = None) -> Any:
    """Where a row and a column of a table lie, as the address of a vector."""
    table = signature.args[0]
    array = context.make_array(table)(context, builder, values[0])
    shape, strides = (cgutils.unpack_tuple(builder, each) for each in (array.shape, array.strides))
    place = cgutils.get_item_pointer2(
        context, builder, array.data, shape, strides, table.layout, values[1:3], wraparound=False, boundscheck=False
    )
    return builder.bitcast(place, context.get_value_type(kind or signature.return_type).as_pointer())
