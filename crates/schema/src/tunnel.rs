//! Keys of `[[tunnel]]`.

use crate::breaker::CircuitBreaker;
use crate::name::Name;
use crate::short::Form;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tunnel that flows and cross traffic name.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tunnel {
    /// The name that its flows and traffic give.
    #[schemars(example = &"vpn")]
    pub name: Name,
    /// What ends all that is in it when it congests its path for long.
    #[schemars(extend("examples" = [{"model": "transport", "loss": "10 %", "interval": "1 s"}]))]
    pub circuit_breaker: Form<CircuitBreaker>,
}
