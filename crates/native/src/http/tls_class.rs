//! `TlsAcceptor`: what a server needs to speak TLS, read from files.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tls::{Acceptor, Clients, Fault, Minimum, Pair, Settings};

/// Certificates, keys and settings of TLS.
#[pyclass(frozen, module = "tarmac._native")]
pub struct TlsAcceptor {
    pub acceptor: Arc<Acceptor>,
}

#[pymethods]
impl TlsAcceptor {
    #[new]
    #[pyo3(signature = (pairs, *, client_ca=None, client_required=true, alpn=Vec::new(),
        minimum="1.2"),
        text_signature = "(pairs, *, client_ca=None, client_required=True, alpn=(), minimum='1.2')")]
    fn new(
        py: Python<'_>,
        pairs: Vec<(PathBuf, PathBuf)>,
        client_ca: Option<PathBuf>,
        client_required: bool,
        alpn: Vec<String>,
        minimum: &str,
    ) -> PyResult<Self> {
        let settings = Settings {
            pairs: pairs.into_iter().map(|(certificate, key)| Pair { certificate, key }).collect(),
            clients: match client_ca {
                None => Clients::Anyone,
                Some(path) if client_required => Clients::Known(path),
                Some(path) => Clients::MaybeKnown(path),
            },
            protocols: alpn.into_iter().map(protocol).collect::<PyResult<_>>()?,
            minimum: match minimum {
                "1.2" => Minimum::Tls12,
                "1.3" => Minimum::Tls13,
                other => {
                    let message = format!("the minimum is '1.2' or '1.3', not '{other}'");
                    return Err(PyValueError::new_err(message));
                }
            },
        };
        let acceptor = py.detach(|| Acceptor::new(settings)).map_err(|fault| wrong(&fault))?;
        Ok(Self { acceptor: Arc::new(acceptor) })
    }

    fn reload(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.acceptor.reload()).map_err(|fault| wrong(&fault))
    }
}

fn protocol(name: String) -> PyResult<Vec<u8>> {
    if (1..=255).contains(&name.len()) {
        return Ok(name.into_bytes());
    }
    Err(PyValueError::new_err("a protocol's name has 1 to 255 bytes"))
}

fn wrong(fault: &Fault) -> PyErr {
    PyValueError::new_err(fault.to_string())
}
