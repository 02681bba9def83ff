"""Rows: tuples of the database whose fields are built when they are touched."""

import copy
import gc
import pickle
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tarmac._native import Row

NAMES = ("id", "name", "age")


@pytest.fixture
def ann() -> Row:
    return Row((1, "Ann", 30), NAMES)


def test_fields_by_number_from_both_ends(ann: Row) -> None:
    """`row[i]` is a tuple's `t[i]`."""
    values = (1, "Ann", 30)
    assert [values[place] for place in range(-3, 3)] == [ann[place] for place in range(-3, 3)]


@pytest.mark.parametrize("place", [3, -4, 2**31, 2**32, -(2**32), 2**64, -(2**64)])
def test_numbers_beyond_the_row_are_an_index_error(ann: Row, place: int) -> None:
    """A number that is no field's raises IndexError, however big it is."""
    with pytest.raises(IndexError, match="row index out of range"):
        ann[place]


def test_slices_are_tuples(ann: Row) -> None:
    """A slice of a row is the slice of its tuple."""
    for part in (slice(None), slice(1, None), slice(-2, None), slice(None, None, -1), slice(5, 9)):
        assert (1, "Ann", 30)[part] == ann[part]
        assert type(ann[part]) is tuple


def test_fields_by_name(ann: Row) -> None:
    """`row["name"]` and `row.name` are the same field."""
    assert "Ann" == ann["name"] == ann.name
    assert 30 == ann[str(b"age", "ascii")], "a name need not be interned"


def test_an_unknown_name_is_a_key_error(ann: Row) -> None:
    """`row["nope"]` raises KeyError with the name."""
    with pytest.raises(KeyError, match="nope"):
        ann["nope"]


def test_an_unknown_attribute_lists_the_fields(ann: Row) -> None:
    """A wrong attribute says which fields there are."""
    with pytest.raises(AttributeError, match="no 'nope'; its fields are id, name, age"):
        ann.nope  # noqa: B018
    assert not hasattr(ann, "nope")
    with pytest.raises(AttributeError, match="its fields have no names"):
        Row((1,)).id  # noqa: B018


def test_other_keys_are_a_type_error(ann: Row) -> None:
    """A key must be a number, a name or a slice."""
    for key in (1.0, None, (1,), b"name"):
        with pytest.raises(TypeError, match="indexed by number, name or slice"):
            ann[key]


def test_methods_go_before_fields_of_their_name() -> None:
    """A field called like a method is reached by `row["keys"]`; `dict(row)` keeps working."""
    row = Row((1, 2, 3, 4, 5), ("get", "keys", "values", "items", "__class__"))
    assert {"get": 1, "keys": 2, "values": 3, "items": 4, "__class__": 5} == dict(row)
    assert Row is row.__class__
    assert callable(row.keys)


def test_of_two_fields_with_one_name_the_first_is_found() -> None:
    """SQL may return two columns of one name; numbers reach both."""
    row = Row((1, 2, 3), ("id", "id", "x"))
    assert (1, 1, 2, 3) == (row["id"], row.id, row[1], row.x)


def test_a_row_is_a_mapping_for_dict(ann: Row) -> None:
    """keys, values and items are those of the named fields."""
    assert NAMES == ann.keys()
    assert (1, "Ann", 30) == ann.values()
    assert (("id", 1), ("name", "Ann"), ("age", 30)) == ann.items()
    assert {"id": 1, "name": "Ann", "age": 30} == dict(ann) == {**ann}


def test_named_fields_beyond_the_tuple_are_none() -> None:
    """A tuple that is shorter than its format has None for the rest by name, and no such number."""
    row = Row((1,), NAMES)
    assert (None, None, None) == (row.name, row["age"], row.get("age"))
    assert {"id": 1, "name": None, "age": None} == dict(row)
    assert 1 == len(row)
    with pytest.raises(IndexError):
        row[1]


def test_fields_beyond_the_format_have_numbers_only() -> None:
    """A tuple that is longer than its format shows the rest by number."""
    row = Row((1, 2), ("id",))
    assert (2, {"id": 1}, (1, 2)) == (row[1], dict(row), tuple(row))
    assert "Row(id=1, 2)" == repr(row)


def test_get_has_a_default(ann: Row) -> None:
    """get(key, default) takes names and numbers."""
    assert ("Ann", 30, None, 7) == (ann.get("name"), ann.get(-1), ann.get("x"), ann.get(9, 7))
    with pytest.raises(TypeError):
        ann.get()
    with pytest.raises(TypeError):
        ann.get("name", 1, 2)


def test_a_row_unpacks_and_matches_as_a_sequence(ann: Row) -> None:
    """Iteration, len, unpacking, `in` and patterns see the fields."""
    number, name, _ = ann
    assert (1, "Ann", 3, True, False) == (number, name, len(ann), 30 in ann, 31 in ann)
    match ann:
        case (1, who, _):
            assert "Ann" == who
        case _:
            pytest.fail("a row is a sequence")


def test_a_row_equals_and_hashes_as_its_tuple(ann: Row) -> None:
    """Rows equal tuples and rows of the same values, whatever the names."""
    assert ann == (1, "Ann", 30)
    assert (1, "Ann", 30) == ann
    assert ann == Row((1, "Ann", 30))
    assert ann != (1, "Ann")
    assert ann != [1, "Ann", 30]
    assert hash((1, "Ann", 30)) == hash(ann)
    assert {ann: "x"}[(1, "Ann", 30)] == "x"  # type: ignore[index]
    assert Row((1,)) < (2,) and Row((2,)) >= Row((1, 9))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Row(([],)))


def test_repr_names_the_fields(ann: Row) -> None:
    """The repr is what one would write."""
    assert "Row(id=1, name='Ann', age=30)" == repr(ann)
    assert "Row(1, 'x')" == repr(Row((1, "x")))
    assert "Row()" == repr(Row(()))


def test_rows_survive_pickle_and_copy(ann: Row) -> None:
    """A pickled row comes back as a row with its names."""
    for again in (pickle.loads(pickle.dumps(ann)), copy.copy(ann), copy.deepcopy(ann)):  # noqa: S301
        assert (ann, "Ann", Row) == (again, again.name, type(again))


def test_a_row_is_immutable_and_final(ann: Row) -> None:
    """Nothing can be set, and nothing derives from Row."""
    with pytest.raises(AttributeError):
        ann.name = "Bob"
    with pytest.raises(TypeError):
        ann[0] = 2  # type: ignore[index]
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (Row,), {})


def test_the_garbage_collector_does_not_know_rows(ann: Row) -> None:
    """A million rows cost it nothing: rows hold no cycles."""
    assert not gc.is_tracked(ann)


def test_wrong_arguments_are_a_type_error() -> None:
    """Values come first, names may follow, both by place."""
    for arguments in ((), (1,), ((1,), "id"), ((1,), (1,)), ((1,), ("a",), 3)):
        with pytest.raises(TypeError):
            Row(*arguments)
    with pytest.raises(TypeError):
        Row((1,), names=("id",))


def test_values_are_packed_when_they_are_given() -> None:
    """What a row cannot hold is refused at once, and iterators are taken."""
    assert (0, 1, 2) == Row(iter(range(3)))
    with pytest.raises(TypeError, match="object has no msgpack form"):
        Row((object(),))

    def broken() -> Iterator[int]:
        yield 1
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        Row(broken())


@given(st.lists(st.integers(-(2**63), 2**64 - 1) | st.text() | st.none(), min_size=1, max_size=40), st.data())
def test_fields_touched_in_any_order(values: list[object], data: st.DataObject) -> None:
    """The cursor that walks a row never gives another field's value."""
    row = Row(values)
    assert tuple(values) == row
    places = st.integers(-len(values), len(values) - 1)
    for place in data.draw(st.lists(places, max_size=30)):
        assert values[place] == row[place]


def test_rows_give_everything_back() -> None:
    """Making, touching and dropping rows, and failing on them, keeps no object alive."""
    program = """
import sys
from tarmac._native import Row
def work():
    for _ in range(300):
        row = Row((1, "Ann", [1], {"a": 1.5}), ("id", "name", "list", "map"))
        row.id, row["name"], row[2], tuple(row), dict(row), repr(row), row == row, row.get("x")
        for wrong in (lambda: row.zzz, lambda: row[9], lambda: hash(row), lambda: row["q"], Row):
            try:
                wrong()
            except Exception:
                pass
work()
before = sys.getallocatedblocks()
work()
print(sys.getallocatedblocks() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert abs(int(done.stdout)) < 50
