//! The special function behind binomial, beta and Student distributions (NIST Digital Library of Mathematical
//! Functions, 8.17), for the statistics of the Python package.
//!
//! # Limits
//! Nine digits up to a hundred thousand trials, six of quantiles; the median of a million has its
//! probability to three digits, as the library stops its continued fraction there.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::function::beta::{checked_beta_reg, inv_beta_reg};

/// I_x(a, b), the regularized incomplete beta function.
#[pyfunction]
pub(crate) fn regularized_beta(a: f64, b: f64, x: f64) -> PyResult<f64> {
    checked_beta_reg(a, b, x).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The x at which I_x(a, b) is a probability.
#[pyfunction]
pub(crate) fn inverse_regularized_beta(a: f64, b: f64, probability: f64) -> PyResult<f64> {
    // Beyond some millions its first guess overflows, and it searches for ever.
    if !(a <= 1e6 && b <= 1e6) {
        return Err(PyValueError::new_err("a parameter is above a million"));
    }
    // The parameters are judged as by the function itself.
    regularized_beta(a, b, probability)?;
    Ok(inv_beta_reg(a, b, probability))
}
