//! What unwinds a trial, and who says why.

use std::any::Any;

/// What unwinds a trial.
pub type Payload = Box<dyn Any + Send>;

/// Says what has unwound the trial with a seed, if it was the failure of a controller that the registry resolved;
/// gives back anything else.
pub type Explain<'a> = &'a dyn Fn(Payload, u64) -> Result<String, Payload>;
