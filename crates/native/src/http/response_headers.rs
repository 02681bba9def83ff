//! `ResponseHeaders`: the fields of an answer that is not sent yet, to look at and to change.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyMapping, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::response::Response;

/// Case-insensitive, multi-valued, changes the response itself.
#[pyclass(frozen, mapping, module = "tarmac._native")]
pub struct ResponseHeaders {
    response: Py<Response>,
}

impl ResponseHeaders {
    pub fn new(response: Py<Response>) -> Self {
        Self { response }
    }

    /// Every field in the order in which it is sent.
    fn fields(&self, py: Python<'_>) -> Vec<(String, String)> {
        let response = self.response.borrow(py);
        let content_type = response.content_type.clone();
        content_type
            .map(|value| ("Content-Type".to_owned(), value))
            .into_iter()
            .chain(response.lines().map(|(name, value)| (latin1(name), latin1(value))))
            .collect()
    }

    fn find(&self, py: Python<'_>, name: &str) -> Option<String> {
        self.fields(py)
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Every name once, as it was written first.
    fn names(&self, py: Python<'_>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.fields(py) {
            if !names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
                names.push(name);
            }
        }
        names
    }
}

#[pymethods]
impl ResponseHeaders {
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.find(py, name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __setitem__(&self, py: Python<'_>, name: &str, value: &str) -> PyResult<()> {
        let mut response = self.response.borrow_mut(py);
        // Refused before anything is taken out.
        let before = response.fields.len();
        response.set_header(name, value)?;
        if name.eq_ignore_ascii_case("content-type") {
            return Ok(());
        }
        let line = response.fields.split_off(before);
        response.remove(name);
        response.fields.extend_from_slice(&line);
        Ok(())
    }

    fn __delitem__(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        if self.response.borrow_mut(py).remove(name) {
            return Ok(());
        }
        Err(PyKeyError::new_err(name.to_owned()))
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.find(py, &name).is_some())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.names(py))?.try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.names(py).len()
    }

    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.find(py, name) {
            Some(value) => Ok(Some(value.into_pyobject(py)?.into_any())),
            None => Ok(default),
        }
    }

    fn get_all(&self, py: Python<'_>, name: &str) -> Vec<String> {
        let fields = self.fields(py).into_iter();
        fields
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }

    fn append(&self, py: Python<'_>, name: &str, value: &str) -> PyResult<()> {
        self.response.borrow_mut(py).set_header(name, value)
    }

    fn setdefault(&self, py: Python<'_>, name: &str, value: &str) -> PyResult<String> {
        if let Some(found) = self.find(py, name) {
            return Ok(found);
        }
        self.append(py, name, value)?;
        Ok(value.to_owned())
    }

    #[pyo3(signature = (name, *default), text_signature = "($self, name, default=..., /)")]
    fn pop<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.find(py, name) {
            Some(found) => {
                self.response.borrow_mut(py).remove(name);
                Ok(found.into_pyobject(py)?.into_any())
            }
            None => default.get_item(0).map_err(|_| PyKeyError::new_err(name.to_owned())),
        }
    }

    fn update(&self, headers: &Bound<'_, PyAny>) -> PyResult<()> {
        let pairs = match headers.cast::<PyMapping>() {
            Ok(mapping) => mapping.items()?.into_any(),
            Err(_) => headers.clone(),
        };
        for pair in pairs.try_iter()? {
            let (name, value): (String, String) = pair?.extract()?;
            self.__setitem__(headers.py(), &name, &value)?;
        }
        Ok(())
    }

    fn multi_items(&self, py: Python<'_>) -> Vec<(String, String)> {
        self.fields(py)
    }

    fn keys(&self, py: Python<'_>) -> Vec<String> {
        self.names(py)
    }

    fn items(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let names = self.names(py).into_iter();
        names.map(|name| self.__getitem__(py, &name).map(|value| (name, value))).collect()
    }

    fn values(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.names(py).iter().map(|name| self.__getitem__(py, name)).collect()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let items = self.multi_items(py).into_pyobject(py)?;
        Ok(format!("ResponseHeaders({})", items.repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.response)
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}
