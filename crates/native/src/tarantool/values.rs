//! Values of the server that the standard library has no type for.

use iproto::ext;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDateTime, PyDict, PyTuple};

use crate::{moment, unpack};

/// A span of calendar time. Equal if every part is equal.
#[pyclass(frozen, eq, hash, get_all, module = "tarmac._native")]
#[derive(PartialEq, Eq, Hash)]
pub struct Interval {
    years: i64,
    months: i64,
    weeks: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    nanoseconds: i64,
    /// What to do with a day the month has not: 0 run over, 1 take its last day, 2 stick to ends.
    adjust: i64,
}

const PARTS: [&str; 9] =
    ["years", "months", "weeks", "days", "hours", "minutes", "seconds", "nanoseconds", "adjust"];

#[pymethods]
impl Interval {
    #[new]
    #[pyo3(signature = (*, years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0, nanoseconds = 0, adjust = 1))]
    #[expect(clippy::too_many_arguments, reason = "a span has that many parts, all by name")]
    fn new(
        years: i64,
        months: i64,
        weeks: i64,
        days: i64,
        hours: i64,
        minutes: i64,
        seconds: i64,
        nanoseconds: i64,
        adjust: i64,
    ) -> Self {
        Self { years, months, weeks, days, hours, minutes, seconds, nanoseconds, adjust }
    }

    fn __repr__(&self) -> String {
        let parts = PARTS.iter().zip(ext::Interval::from(self).parts());
        let said = parts.filter(|&(&name, value)| value != i64::from(name == "adjust"));
        let said: Vec<_> = said.map(|(name, value)| format!("{name}={value}")).collect();
        format!("Interval({})", said.join(", "))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = ext::Interval::from(self).parts();
        (py.get_type::<Self>().getattr("_of")?, (PyTuple::new(py, parts)?,)).into_pyobject(py)
    }

    /// An interval of its nine parts in order; what a pickle calls.
    #[staticmethod]
    fn _of(parts: [i64; 9]) -> Self {
        let [years, months, weeks, days, hours, minutes, seconds, nanoseconds, adjust] = parts;
        Self { years, months, weeks, days, hours, minutes, seconds, nanoseconds, adjust }
    }
}

impl From<ext::Interval> for Interval {
    fn from(interval: ext::Interval) -> Self {
        Self::_of(interval.parts())
    }
}

impl From<&Interval> for ext::Interval {
    fn from(interval: &Interval) -> Self {
        Self {
            years: interval.years,
            months: interval.months,
            weeks: interval.weeks,
            days: interval.days,
            hours: interval.hours,
            minutes: interval.minutes,
            seconds: interval.seconds,
            nanoseconds: interval.nanoseconds,
            adjust: interval.adjust,
        }
    }
}

/// A point in time that `datetime.datetime` cannot hold without loss.
#[pyclass(frozen, eq, ord, hash, get_all, module = "tarmac._native")]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datetime {
    /// Seconds since 1970-01-01 00:00 UTC.
    seconds: i64,
    /// Nanoseconds past the second.
    nanoseconds: i32,
    /// Minutes east of UTC.
    tz_offset: i16,
    /// The server's number of the zone's name; zero if it has none.
    tz_index: i16,
}

#[pymethods]
impl Datetime {
    #[new]
    #[pyo3(signature = (seconds, nanoseconds = 0, tz_offset = 0, tz_index = 0))]
    fn new(seconds: i64, nanoseconds: i32, tz_offset: i16, tz_index: i16) -> Self {
        Self { seconds, nanoseconds, tz_offset, tz_index }
    }

    /// The nearest `datetime.datetime` at or before it; `OverflowError` outside of its years.
    fn to_datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDateTime>> {
        let datetime = moment::standard(py, self.into())?;
        datetime.ok_or_else(|| PyOverflowError::new_err("outside of the years of datetime"))
    }

    fn __repr__(&self) -> String {
        let Self { seconds, nanoseconds, tz_offset, tz_index } = self;
        format!("Datetime({seconds}, {nanoseconds}, tz_offset={tz_offset}, tz_index={tz_index})")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = (self.seconds, self.nanoseconds, self.tz_offset, self.tz_index);
        (py.get_type::<Self>(), arguments).into_pyobject(py)
    }
}

impl From<ext::Datetime> for Datetime {
    fn from(moment: ext::Datetime) -> Self {
        let ext::Datetime { seconds, nanoseconds, tz_offset, tz_index } = moment;
        Self { seconds, nanoseconds, tz_offset, tz_index }
    }
}

impl From<&Datetime> for ext::Datetime {
    fn from(datetime: &Datetime) -> Self {
        let Datetime { seconds, nanoseconds, tz_offset, tz_index } = *datetime;
        Self { seconds, nanoseconds, tz_offset, tz_index }
    }
}

/// A value of an extension type that is not known here. It goes back as it came.
#[pyclass(frozen, eq, hash, module = "tarmac._native")]
#[derive(PartialEq, Eq, Hash)]
pub struct ExtType {
    code: i8,
    data: Vec<u8>,
}

impl ExtType {
    /// A value of type `code`.
    pub fn build(code: i8, data: &[u8]) -> Self {
        Self { code, data: data.to_vec() }
    }

    /// Its bytes.
    pub fn payload(&self) -> &[u8] {
        &self.data
    }
}

#[pymethods]
impl ExtType {
    #[new]
    fn new(code: i8, data: Vec<u8>) -> Self {
        Self { code, data }
    }

    /// The number of the type, -128 to 127.
    #[getter]
    pub fn code(&self) -> i8 {
        self.code
    }

    /// Its bytes.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.data)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("ExtType({}, {})", self.code, self.data(py).repr()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<Self>(), (self.code, self.data(py))).into_pyobject(py)
    }
}

/// An error of the server as a value, with what caused it.
#[pyclass(frozen, get_all, module = "tarmac._native")]
pub struct BoxError {
    /// The server's class of error, such as `ClientError`.
    r#type: String,
    /// The text for people.
    message: String,
    /// The server's code; zero where it has none.
    code: u64,
    /// The operating system's error number.
    errno: u64,
    /// The server's source file.
    file: String,
    /// The line in it.
    line: u64,
    /// Further fields.
    fields: Py<PyDict>,
    /// The error that caused it.
    cause: Option<Py<BoxError>>,
    #[pyo3(name = "_payload")]
    payload: Py<PyBytes>,
}

impl BoxError {
    /// The first error of a stack; the others are its causes. A stack without frames is an
    /// error that says nothing.
    pub fn build<'py>(
        py: Python<'py>,
        payload: &[u8],
        stack: ext::ErrorStack,
    ) -> PyResult<Bound<'py, Self>> {
        let payload = PyBytes::new(py, payload);
        let mut frames = stack.frames.into_iter().rev();
        let mut error = Self::of_frame(py, frames.next().unwrap_or_default(), None, &payload)?;
        for frame in frames {
            error = Self::of_frame(py, frame, Some(error.unbind()), &payload)?;
        }
        Ok(error)
    }

    fn of_frame<'py>(
        py: Python<'py>,
        frame: ext::ErrorFrame,
        cause: Option<Py<Self>>,
        payload: &Bound<'py, PyBytes>,
    ) -> PyResult<Bound<'py, Self>> {
        let fields = match frame.fields.as_slice() {
            [] => PyDict::new(py),
            fields => unpack::whole(py, fields)?.into_bound(py).cast_into()?,
        };
        let error = Self {
            r#type: frame.kind,
            message: frame.message,
            code: frame.code,
            errno: frame.errno,
            file: frame.file,
            line: frame.line,
            fields: fields.unbind(),
            cause,
            payload: payload.clone().unbind(),
        };
        Bound::new(py, error)
    }

    /// The whole stack as it came.
    pub fn payload(&self, py: Python<'_>) -> &[u8] {
        self.payload.as_bytes(py)
    }
}

#[pymethods]
impl BoxError {
    fn __repr__(&self) -> String {
        format!("BoxError({}, {}, {:?})", self.r#type, self.code, self.message)
    }

    fn __str__(&self) -> &str {
        &self.message
    }
}
