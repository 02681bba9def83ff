//! Where a request came from as the program is to see it: a proxy in front knows better than the socket.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What was said to override the connection's own.
#[derive(Default)]
pub struct Seen(Mutex<Option<Box<Overrides>>>);

#[derive(Default)]
struct Overrides {
    client: Option<(String, u16)>,
    scheme: Option<String>,
    host: Option<String>,
}

impl Seen {
    fn open(&self) -> MutexGuard<'_, Option<Box<Overrides>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Override what is given; the rest stays.
    pub fn set(
        &self,
        client: Option<(String, u16)>,
        scheme: Option<String>,
        host: Option<String>,
    ) -> PyResult<()> {
        if let Some(scheme) = &scheme
            && !matches!(&**scheme, "http" | "https" | "ws" | "wss")
        {
            return Err(PyValueError::new_err(format!("{scheme:?} is not http or https")));
        }
        let mut overrides = self.open();
        let overrides = overrides.get_or_insert_default();
        overrides.client = client.or(overrides.client.take());
        overrides.scheme = scheme.or(overrides.scheme.take());
        overrides.host = host.or(overrides.host.take());
        Ok(())
    }

    pub fn client(&self) -> Option<(String, u16)> {
        self.open().as_ref()?.client.clone()
    }

    pub fn scheme(&self) -> Option<String> {
        self.open().as_ref()?.scheme.clone()
    }

    pub fn host(&self) -> Option<String> {
        self.open().as_ref()?.host.clone()
    }
}
