//! `Headers`: the fields of a request, looked up without building a dictionary.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::request::Request;
use crate::text;

/// Read-only, case-insensitive, multi-valued.
#[pyclass(frozen, mapping, module = "tarmac._native")]
pub struct Headers {
    request: Py<Request>,
}

impl Headers {
    pub fn new(request: Py<Request>) -> Self {
        Self { request }
    }

    /// Every field, names in lower case.
    fn fields(&self) -> impl Iterator<Item = (String, &[u8])> {
        let data = self.request.get().data();
        data.head.fields.iter().map(|field| {
            let name = String::from_utf8_lossy(field.name.of(&data.bytes)).to_ascii_lowercase();
            (name, field.value.of(&data.bytes))
        })
    }

    /// Every name once.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (name, _) in self.fields() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

#[pymethods]
impl Headers {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyString>> {
        let found = self.request.get().data().field(&name.to_ascii_lowercase());
        found
            .map(|value| text::latin1(py, value))
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        let Ok(name) = name.extract::<String>() else { return false };
        self.request.get().data().field(&name.to_ascii_lowercase()).is_some()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.names())?.try_iter()?.into_any())
    }

    fn __len__(&self) -> usize {
        self.names().len()
    }

    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        let found = self.request.get().data().field(&name.to_ascii_lowercase());
        found.map(|value| text::latin1(py, value).into_any()).or(default)
    }

    fn get_all<'py>(&self, py: Python<'py>, name: &str) -> Vec<Bound<'py, PyString>> {
        let name = name.to_ascii_lowercase();
        self.fields()
            .filter(|(known, _)| *known == name)
            .map(|(_, value)| text::latin1(py, value))
            .collect()
    }

    fn multi_items<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyString>)> {
        self.fields().map(|(name, value)| (name, text::latin1(py, value))).collect()
    }

    fn keys(&self) -> Vec<String> {
        self.names()
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyString>)>> {
        let names = self.names().into_iter();
        names.map(|name| self.__getitem__(py, &name).map(|value| (name, value))).collect()
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyString>>> {
        self.names().iter().map(|name| self.__getitem__(py, name)).collect()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let items = self.multi_items(py).into_pyobject(py)?;
        Ok(format!("Headers({})", items.repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.request)
    }
}
