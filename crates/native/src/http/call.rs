//! From a request to its handler, and from what that returns to the answer.

use std::sync::Arc;

use peers::{Exchange, ParamValue, RequestData, Routed};
use pyo3::prelude::*;

use crate::dispatch::ordinary;
use crate::ffi_call::{call_with_names, copy_context, in_context, is_coroutine};
use crate::handler_coroutine::HandlerCoroutine;
use crate::reactor_class::Reactor;
use crate::request::Request;
use crate::server::Hooks;
use crate::websocket::WebSocket;
use crate::{answer, asgi, asgi_answer, light, light_current, names, text, unpack};

/// Run the handler of one request.
#[inline]
pub fn handle(
    reactor: &Bound<'_, Reactor>,
    exchange: Exchange,
    data: Box<RequestData>,
) -> PyResult<()> {
    let py = reactor.py();
    let (hooks, spare, entered) = {
        let mut hub = reactor.get().hub.open()?;
        let hooks = hub.hooks.get(data.server as usize).cloned().flatten();
        (hooks, hub.spare.take(), hub.light.is_some())
    };
    let Some(hooks) = hooks else { return Ok(()) };
    if entered && !is_light(&hooks, &data) {
        light_current::leave(reactor)?;
    }
    let spare = spare.map(|spare| spare.into_bound(py));
    let request = Request::make(reactor, exchange, data, Arc::clone(&hooks), spare)?;
    match call(&hooks, &request) {
        Ok(result) => finish(&hooks, &request, &result),
        Err(error) => fail(&hooks, &request, ordinary(py, error)?).map(|()| None),
    }
    .and_then(|pump| match pump {
        Some(pump) => HandlerCoroutine::start(&hooks, &request, &pump),
        None => Ok(()),
    })?;
    if let Some(spare) = Request::into_spare(request) {
        reactor.get().hub.open()?.spare = Some(spare.unbind());
    }
    Ok(())
}

/// Does nothing run before the coroutine's first step, and that in the light way?
#[inline]
fn is_light(hooks: &Hooks, data: &RequestData) -> bool {
    let Routed::Found(route, _) = &data.routed else {
        return hooks.light && hooks.asgi.as_ref().is_some_and(|asgi| asgi.get().is_light(data));
    };
    let route = hooks.routes.get(*route as usize);
    // Who waits for messages needs a task at once.
    hooks.light && route.is_some_and(|route| route.is_function && route.websocket.is_none())
}

#[inline]
fn call<'py>(hooks: &Hooks, request: &Bound<'py, Request>) -> PyResult<Bound<'py, PyAny>> {
    let py = request.py();
    let Routed::Found(route, values) = &request.get().data().routed else {
        if let Some(asgi) = &hooks.asgi {
            return asgi.get().call(request);
        }
        let Some(fallback) = &hooks.fallback else {
            return Err(pyo3::exceptions::PyRuntimeError::new_err("no route and no fallback"));
        };
        return isolated(hooks, request, || fallback.bind(py).call1((request,)));
    };
    let Some(route) = hooks.routes.get(*route as usize) else {
        return Err(pyo3::exceptions::PyRuntimeError::new_err("the route is gone"));
    };
    let endpoint = route.endpoint.bind(py);
    let call_with = |first: &Bound<'py, PyAny>| {
        if values.is_empty() {
            return endpoint.call1((first,));
        }
        let values = values.iter().map(|value| param(py, value)).collect::<PyResult<Vec<_>>>()?;
        call_with_names(endpoint, first, route.names.bind(py), &values)
    };
    if let Some(options) = &route.websocket {
        return call_with(WebSocket::open(request, options.get())?.as_any());
    }
    let call = || call_with(request.as_any());
    // Making a coroutine runs nothing of it; its task has a context of its own.
    if route.asynchronous { call() } else { isolated(hooks, request, call) }
}

/// Run a synchronous endpoint so that no context variable leaks into the next request.
#[inline]
fn isolated<'py>(
    hooks: &Hooks,
    request: &Bound<'py, Request>,
    act: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = request.py();
    // An empty context that stays empty can serve again: almost every handler leaves it so.
    let context = match hooks.context.take(py) {
        Some(context) => context,
        None => copy_context(py)?,
    };
    let result = in_context(&context, act);
    if context.len()? == 0 {
        hooks.context.give(context);
    }
    result
}

/// A path parameter as a Python object.
pub fn param<'py>(py: Python<'py>, value: &ParamValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        ParamValue::Int(number) => number.into_pyobject(py)?.into_any(),
        ParamValue::Float(number) => number.into_pyobject(py)?.into_any(),
        ParamValue::Uuid(number) => unpack::uuid(py, *number)?,
        ParamValue::Text(bytes) => text::lenient(py, bytes)?.into_any(),
    })
}

/// Answer with what the handler returned. What comes back, if anything, writes the rest of it.
#[inline]
pub fn finish<'py>(
    hooks: &Arc<Hooks>,
    request: &Bound<'py, Request>,
    result: &Bound<'py, PyAny>,
) -> PyResult<answer::Pump<'py>> {
    if result.is_none() && request.get().is_answered() {
        // The handler answered early, by itself.
        return match request.get().is_hosted().then(|| asgi::returned(request.get())) {
            Some(Err(error)) => fail(hooks, request, error).map(|()| None),
            _ => Ok(None),
        };
    }
    if request.get().is_hosted() && !is_coroutine(result) {
        return fail(hooks, request, asgi::unanswered(result)).map(|()| None);
    }
    match respond(hooks, request, result) {
        Ok(pump) => Ok(pump),
        Err(error) => fail(hooks, request, ordinary(request.py(), error)?).map(|()| None),
    }
}

/// Answer with a result; a coroutine gives its result as a task.
#[inline]
fn respond<'py>(
    hooks: &Arc<Hooks>,
    request: &Bound<'py, Request>,
    result: &Bound<'py, PyAny>,
) -> PyResult<answer::Pump<'py>> {
    if !is_coroutine(result) {
        return answer::respond(request, result);
    }
    if hooks.light && !request.get().is_socket() {
        light::start(hooks, request, result)?;
    } else {
        HandlerCoroutine::start(hooks, request, result)?;
    }
    Ok(None)
}

/// An asynchronous handler raised: the application says what to answer, or the process is to end.
pub fn give_up(hooks: &Arc<Hooks>, request: &Bound<'_, Request>, error: PyErr) -> PyResult<()> {
    let py = request.py();
    match ordinary(py, error) {
        Ok(error) => fail(hooks, request, error),
        Err(error) => {
            let cancelled = error.is_instance(py, names::cancelled_error(py)?);
            let (status, text): (u16, &[u8]) = if cancelled {
                (503, b"Service Unavailable")
            } else {
                (500, b"Internal Server Error")
            };
            answer::plain(request.get(), status, text);
            if request.get().is_hosted() {
                asgi_answer::cut(request.get());
            }
            Err(error)
        }
    }
}

/// Ask the application what to say about an exception; if that fails too, say the least.
pub fn fail(hooks: &Arc<Hooks>, request: &Bound<'_, Request>, error: PyErr) -> PyResult<()> {
    let py = request.py();
    let hosted = request.get().is_hosted();
    if hosted && error.is_instance(py, names::disconnected_class(py)?) {
        // An ASGI application that lets it pass has no defect.
        asgi_answer::cut(request.get());
        return Ok(());
    }
    let said = hooks.on_error.bind(py).call1((request, error.into_value(py))).and_then(|result| {
        if request.get().is_answered() {
            if hosted {
                asgi_answer::cut(request.get());
            }
            return Ok(());
        }
        match respond(hooks, request, &result)? {
            Some(pump) => HandlerCoroutine::start(hooks, request, &pump),
            None => Ok(()),
        }
    });
    if let Err(error) = said {
        let error = ordinary(py, error)?;
        error.write_unraisable(py, Some(hooks.on_error.bind(py)));
        answer::plain(request.get(), 500, b"Internal Server Error");
    }
    Ok(())
}
