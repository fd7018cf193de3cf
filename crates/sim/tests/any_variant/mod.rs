//! Scenarios of tests whose controllers may be variants of `thalweg-reference` or `thalweg-c4-history`.

use thalweg_sim::{Clock, Scenario, ScenarioError};

/// [`Scenario::from_toml`], with these variants.
pub(crate) fn from_toml(
    text: &[u8],
    origin: &str,
    sets: &[(String, String)],
    controllers: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    let registry = thalweg_c4_history::registry();
    Scenario::read(text, origin, sets, controllers, Clock::Virtual, &registry)
}
