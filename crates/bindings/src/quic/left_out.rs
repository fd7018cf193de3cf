//! The names of QUIC over sockets in a build without it: each call says in one sentence what is missing.

use crate::QuicRefused;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use std::ffi::CStr;

const NAMES: [&CStr; 4] = [
    c"make_quic_identity",
    c"quic_fingerprint",
    c"quic_get",
    c"QuicServer",
];

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for name in NAMES {
        let refuse = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
            Err(QuicRefused::new_err(
                "this build has no QUIC over sockets: it was made without the feature quic-sockets, \
                 which make build has",
            ))
        };
        module.add_function(PyCFunction::new_closure(
            module.py(),
            Some(name),
            None,
            refuse,
        )?)?;
    }
    Ok(())
}
