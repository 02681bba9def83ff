//! `FormReader`: a form in parts, from pieces of bytes to a list of what happened.

use http1::{FormLimits, Multipart, PartEvent, PartHead, Refusal};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::{names, text};

/// Reads one `multipart/form-data` body piece by piece.
#[pyclass(module = "tarmac._native")]
pub struct FormReader {
    // On the heap: Python aligns objects to 16 bytes, and what searches for the boundary wants 32.
    form: Box<Multipart>,
}

#[pymethods]
impl FormReader {
    #[new]
    #[pyo3(signature = (content_type, *, max_fields=1000, max_files=1000, max_field_bytes=1024 * 1024,
        max_file_bytes=None, max_head_bytes=8192, max_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword options of one constructor")]
    fn new(
        py: Python<'_>,
        content_type: &str,
        max_fields: usize,
        max_files: usize,
        max_field_bytes: u64,
        max_file_bytes: Option<u64>,
        max_head_bytes: usize,
        max_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let limits = FormLimits {
            fields: max_fields,
            files: max_files,
            field_bytes: max_field_bytes,
            file_bytes: max_file_bytes.unwrap_or(u64::MAX),
            head_bytes: max_head_bytes,
            form_bytes: max_bytes.unwrap_or(u64::MAX),
        };
        let form = http1::boundary(content_type.as_bytes())
            .and_then(|boundary| Multipart::new(&boundary, limits))
            .map_err(|refusal| refused(py, refusal))?;
        Ok(Self { form: Box::new(form) })
    }

    fn feed<'py>(&mut self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let events = PyList::empty(py);
        let mut rest = data;
        loop {
            let step = self.form.next(rest).map_err(|refusal| refused(py, refusal))?;
            rest = &rest[step.consumed..];
            match step.event {
                None => return Ok(events),
                Some(PartEvent::Begin(head)) => events.append(begun(py, head)?)?,
                Some(PartEvent::Data(data)) => events.append(PyBytes::new(py, data))?,
                Some(PartEvent::End) => events.append(py.None())?,
            }
        }
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.form.finish().map_err(|refusal| refused(py, refusal))
    }
}

fn begun<'py>(py: Python<'py>, head: &PartHead) -> PyResult<Bound<'py, PyTuple>> {
    let optional =
        |text: &Option<Vec<u8>>| text.as_deref().map(|bytes| text::lenient(py, bytes)).transpose();
    let fields = PyList::empty(py);
    for (name, value) in &head.fields {
        fields.append((text::lenient(py, name)?, text::lenient(py, value)?))?;
    }
    let name = text::lenient(py, &head.name)?;
    (name, optional(&head.filename)?, optional(&head.content_type)?, fields).into_pyobject(py)
}

/// The error that answers with a refusal's status.
fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    let class =
        if refusal.status == 413 { names::content_too_large(py) } else { names::bad_request(py) };
    match class.and_then(|class| class.call1((refusal.reason,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
