//! Format: the names of a tuple's fields, shared by every row of a space or of a statement.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// The names of a tuple's fields, and the place of each.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Format {
    /// The names in order.
    #[pyo3(get)]
    names: Py<PyTuple>,
    /// The same names, interned, to be found by identity first.
    fields: Vec<Field>,
    places: Py<PyDict>,
}

struct Field {
    name: Py<PyString>,
    /// Whether `row.name` means the field: a method of the row of that name goes first.
    is_attribute: bool,
}

/// What a row can do beside having fields.
const METHODS: [&str; 4] = ["get", "items", "keys", "values"];

impl Format {
    /// A format of `names`. Of two fields with one name, the first is found by it.
    pub fn build<'a>(py: Python<'_>, names: impl IntoIterator<Item = &'a str>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let places = PyDict::new(py);
        for (place, name) in names.into_iter().enumerate() {
            let interned = PyString::intern(py, name);
            places.set_default(&interned, place)?;
            let is_attribute = !name.starts_with("__") && !METHODS.contains(&name);
            fields.push(Field { name: interned.unbind(), is_attribute });
        }
        let names = PyTuple::new(py, fields.iter().map(|field| field.name.bind(py)))?;
        Ok(Self { names: names.unbind(), fields, places: places.unbind() })
    }

    /// The names as a tuple.
    pub fn names<'py>(&self, py: Python<'py>) -> &Bound<'py, PyTuple> {
        self.names.bind(py)
    }

    /// How many fields have a name.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// The name of the field at `place`.
    pub fn name(&self, place: usize) -> Option<&Py<PyString>> {
        self.fields.get(place).map(|field| &field.name)
    }

    /// The place of the field that `row[name]` means.
    #[inline]
    pub fn place(&self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        match self.fields.iter().position(|field| field.name.as_ptr() == name.as_ptr()) {
            Some(place) => Ok(Some(place)),
            None => self.place_by_value(name),
        }
    }

    /// The place of the field that `row.name` means.
    #[inline]
    pub fn attribute(&self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        let place = self.place(name)?;
        Ok(place.filter(|&place| self.fields[place].is_attribute))
    }

    /// An error for a name that no field has.
    #[cold]
    pub fn unknown(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyErr {
        PyValueError::new_err(format!("no field {name}; the fields are {}", self.list(py)))
    }

    /// The names for people: `id, name`.
    pub fn list(&self, py: Python<'_>) -> String {
        let names: Vec<_> =
            self.fields.iter().map(|field| field.name.bind(py).to_string()).collect();
        names.join(", ")
    }

    fn place_by_value(&self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        self.places.bind(name.py()).get_item(name)?.map(|place| place.extract()).transpose()
    }
}

#[pymethods]
impl Format {
    #[new]
    pub fn new(names: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let names_in_rust = names.extract::<Vec<String>>()?;
        Self::build(names.py(), names_in_rust.iter().map(String::as_str))
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Format({})", self.list(py))
    }
}
