//! Where there is no Linux, there are no namespaces: what needs them says so, in one message. The path of a scenario can be
//! read anywhere.

use crate::explain::Explain;
use std::io;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Scenario, ScenarioError};

const REFUSAL: &str = "real time requires Linux (network namespaces and TUN devices)";

/// Refuses a scenario that would run in real time.
///
/// # Errors
/// Always.
pub fn flows_from_toml(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
    _controllers: &[(String, String)],
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    path_from_toml(text, origin, sets, registry)?;
    Err(ScenarioError::of_option(origin.to_owned(), REFUSAL))
}

/// Reads a scenario for its path; flows may have any controller.
///
/// # Errors
/// As [`Scenario::from_toml`].
pub fn path_from_toml(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    Scenario::read(text, origin, sets, &[], Clock::Any, registry)
}

/// Serves nothing.
///
/// # Errors
/// Always.
pub fn serve(
    _request: i32,
    _answer: i32,
    _registry: &Registry,
    _explain: Explain<'_>,
) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, REFUSAL))
}
