//! Arguments of a link's methods, from Python objects.

use std::net::{IpAddr, SocketAddr};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use reactor::Address;

use crate::operation::{Kind, Operation, Target};

/// An operation on a space.
pub fn on_space(
    kind: Kind,
    space: &Bound<'_, PyAny>,
    index: Option<&Bound<'_, PyAny>>,
    first: &Bound<'_, PyAny>,
) -> PyResult<Operation> {
    let mut operation = Operation::new(kind);
    operation.space = Target::from_python(space, "a space")?;
    if let Some(index) = index {
        operation.index = Target::from_python(index, "an index")?;
    }
    operation.first = Some(first.clone().into());
    Ok(operation)
}

/// An operation that is a text with arguments.
pub fn with_text(kind: Kind, text: Bound<'_, PyString>, arguments: &Bound<'_, PyAny>) -> Operation {
    let mut operation = Operation::new(kind);
    operation.text = Some(text.into());
    operation.first = Some(arguments.clone().into());
    operation
}

pub fn address(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    if let Ok(path) = object.extract::<std::path::PathBuf>() {
        return Ok(Address::Unix(path));
    }
    let (host, port): (String, u16) = object
        .extract()
        .map_err(|_| PyTypeError::new_err("an address is (ip, port) or the path of a socket"))?;
    let ip: IpAddr = host
        .parse()
        .map_err(|_| PyValueError::new_err(format!("{host:?} is not an IP address")))?;
    Ok(Address::Tcp(SocketAddr::new(ip, port)))
}

pub fn iterator(object: &Bound<'_, PyAny>) -> PyResult<iproto::Iterator> {
    let unknown = || {
        let text = "iterator must be EQ, REQ, ALL, LT, LE, GE, GT, BITS_ALL_SET, BITS_ANY_SET, \
                    BITS_ALL_NOT_SET, OVERLAPS or NEIGHBOR";
        PyValueError::new_err(text)
    };
    if let Ok(name) = object.cast::<PyString>() {
        return name.to_str()?.parse().map_err(|_| unknown());
    }
    iproto::Iterator::from_number(object.extract()?).ok_or_else(unknown)
}
