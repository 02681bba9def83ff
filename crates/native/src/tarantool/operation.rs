//! What a query asks for: its arguments as Python gave them, and their place on the wire.

use std::borrow::Cow;

use iproto::query::{self, Header, Select, Statement};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::format::Format;
use crate::pack;
use crate::unsafe_held::Held;

/// Which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No query: ready when the link is.
    Connect,
    /// No query: kept by a server.
    Promise,
    Ping,
    Select,
    Get,
    Insert,
    Replace,
    Update,
    Upsert,
    Delete,
    Call,
    Eval,
    Execute,
}

/// A space or an index: by name, or by number.
pub enum Target {
    Name(Held<PyString>),
    Number(u32),
}

impl Target {
    /// A name or a number from Python.
    pub fn from_python(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return Ok(Self::Name(name.clone().into()));
        }
        match object.extract::<u32>() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => Err(PyTypeError::new_err(format!("{what} must be a name or a number"))),
        }
    }
}

impl Target {
    /// The same object, or the same number.
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(one), Self::Name(other)) => one.as_ptr() == other.as_ptr(),
            (Self::Number(one), Self::Number(other)) => one == other,
            _ => false,
        }
    }

    pub fn share(&self, py: Python<'_>) -> Self {
        match self {
            Self::Name(name) => Self::Name(name.share(py)),
            Self::Number(number) => Self::Number(*number),
        }
    }
}

/// One query before it is encoded; kept until it is answered, in case it must be sent again.
pub struct Operation {
    pub kind: Kind,
    pub space: Target,
    pub index: Target,
    pub iterator: iproto::Iterator,
    pub offset: u32,
    pub limit: u32,
    /// Function, expression or statement.
    pub text: Option<Held<PyString>>,
    /// Key, tuple or arguments.
    pub first: Option<Held<PyAny>>,
    /// Update operations.
    pub second: Option<Held<PyAny>>,
}

impl Operation {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            space: Target::Number(0),
            index: Target::Number(0),
            iterator: iproto::Iterator::Eq,
            offset: 0,
            limit: u32::MAX,
            text: None,
            first: None,
            second: None,
        }
    }

    /// Every object it holds that may hold others.
    pub fn objects(&self) -> impl Iterator<Item = &Held<PyAny>> {
        self.first.iter().chain(&self.second)
    }

    /// Is the key given by names?
    pub fn has_named_key(&self, py: Python<'_>) -> bool {
        use Kind::{Delete, Get, Select, Update};
        matches!(self.kind, Select | Get | Update | Delete)
            && self.first.as_ref().is_some_and(|key| key.bind(py).is_instance_of::<PyDict>())
    }

    /// Does it name a space?
    pub fn has_space(&self) -> bool {
        use Kind::{Delete, Get, Insert, Replace, Select, Update, Upsert};
        matches!(self.kind, Select | Get | Insert | Replace | Update | Upsert | Delete)
    }

    /// Pack the arguments. May run Python code: nothing may be borrowed meanwhile.
    pub fn pack(
        &self,
        py: Python<'_>,
        first: &mut Vec<u8>,
        second: &mut Vec<u8>,
        format: Option<&Format>,
        key: Option<&Format>,
    ) -> PyResult<()> {
        first.clear();
        second.clear();
        if let Some(object) = &self.first {
            let object = object.bind(py);
            match self.kind {
                Kind::Insert | Kind::Replace | Kind::Upsert => pack_tuple(object, first, format)?,
                Kind::Call | Kind::Eval => pack_list(object, first, "arguments")?,
                Kind::Execute => pack_parameters(object, first)?,
                _ => pack_key(object, first, key)?,
            }
        }
        if let Some(object) = &self.second {
            pack_list(object.bind(py), second, "operations")?;
        }
        Ok(())
    }

    /// Append the whole packet.
    #[expect(clippy::too_many_arguments, reason = "the parts of one packet")]
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        header: Header,
        space: u32,
        index: u32,
        text: &str,
        first: &[u8],
        second: &[u8],
    ) {
        match self.kind {
            Kind::Connect | Kind::Promise | Kind::Ping => query::ping(out, header),
            Kind::Select | Kind::Get => {
                let (iterator, limit, offset) = (self.iterator, self.limit, self.offset);
                let select = Select { space, index, limit, offset, iterator, key: first };
                query::select(out, header, &select);
            }
            Kind::Insert => query::insert(out, header, space, first),
            Kind::Replace => query::replace(out, header, space, first),
            Kind::Update => query::update(out, header, space, index, first, second),
            Kind::Upsert => query::upsert(out, header, space, first, second),
            Kind::Delete => query::delete(out, header, space, index, first),
            Kind::Call => query::call(out, header, text, first),
            Kind::Eval => query::eval(out, header, text, first),
            Kind::Execute => query::execute(out, header, Statement::Text(text), first),
        }
    }

    /// The text of a call, an expression or a statement.
    pub fn text<'py>(&'py self, py: Python<'py>) -> PyResult<Cow<'py, str>> {
        self.text.as_ref().map_or(Ok(Cow::Borrowed("")), |text| text.bind(py).to_cow())
    }
}

/// A key: a list of parts, one part by itself, or nothing.
fn pack_key(object: &Bound<'_, PyAny>, out: &mut Vec<u8>, names: Option<&Format>) -> PyResult<()> {
    if object.is_none() {
        iproto::msgpack::array(out, 0);
        return Ok(());
    }
    if object.is_instance_of::<PyDict>() {
        if names.is_none_or(|names| names.len() == 0) {
            let text = "the index's fields have no names: give the key as a tuple, not as a dict";
            return Err(PyValueError::new_err(text));
        }
        return pack::pack(object.py(), object, out, names);
    }
    if !is_list(object) {
        iproto::msgpack::array(out, 1);
    }
    pack::pack(object.py(), object, out, None)
}

fn pack_tuple(
    object: &Bound<'_, PyAny>,
    out: &mut Vec<u8>,
    format: Option<&Format>,
) -> PyResult<()> {
    if object.is_instance_of::<PyDict>() {
        if format.is_none_or(|format| format.len() == 0) {
            let text = "the space has no format: give the row as a tuple, not as a dict";
            return Err(PyValueError::new_err(text));
        }
        return pack::pack(object.py(), object, out, format);
    }
    pack_list(object, out, "a row")
}

fn pack_list(object: &Bound<'_, PyAny>, out: &mut Vec<u8>, what: &str) -> PyResult<()> {
    if !is_list(object) {
        let kind = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{what} must be a tuple or a list, not {kind}")));
    }
    pack::pack(object.py(), object, out, None)
}

/// SQL parameters: a list of values, or names and values (`:name` in the statement).
fn pack_parameters(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    let Ok(named) = object.cast::<PyDict>() else { return pack_list(object, out, "parameters") };
    let list = PyList::empty(object.py());
    for (name, value) in named {
        let pair = PyDict::new(object.py());
        pair.set_item(format!(":{}", name.cast::<PyString>()?.to_str()?), value)?;
        list.append(pair)?;
    }
    pack::pack(object.py(), list.as_any(), out, None)
}

fn is_list(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<pyo3::types::PyTuple>()
        || matches!(crate::ffi_row::borrow(object), Ok(Some(_)))
}
