//! Controllers in Python: classes of users behind the seam that every controller has.
//!
//! `thalweg.engine.controllers` reads files and checks classes and options; here is what runs in a trial. A text that names a class
//! is resolved by a function that Python lends ([`Named`]), so that it can stand wherever the name of a controller can.

mod attributes;
mod decision;
mod definition;
mod driver;
mod events;
mod failure;
mod fake_transport;
mod interrupt;
mod named;
mod observed;
mod path;
mod report;

pub(crate) use failure::{Failure, result_of};
pub(crate) use interrupt::{Speaking, interrupt_handlers};
pub(crate) use named::Named;
pub(crate) use path::Path;
pub(crate) use report::Report;

use pyo3::prelude::*;
use thalweg_control::Registry;

/// The controllers of Thalweg, and those that `named` knows.
pub(crate) fn registry(named: &std::sync::Arc<Named>) -> Registry {
    crate::registry::all().with_resolver(std::sync::Arc::clone(named) as _)
}

/// Adds the classes that handlers see.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<path::Init>()?;
    module.add_class::<path::Path>()?;
    module.add_class::<events::Ack>()?;
    module.add_class::<events::Lost>()?;
    module.add_class::<events::Sent>()?;
    module.add_class::<events::Timeout>()?;
    module.add_class::<events::SpuriousLoss>()?;
    module.add_class::<events::EcnCounts>()?;
    module.add_class::<events::RttSample>()?;
    module.add_class::<events::Snapshot>()?;
    module.add_class::<events::RateSample>()?;
    module.add_class::<fake_transport::FakeTransport>()?;
    module.add_class::<report::Report>()
}
