//! What controllers in other languages share: the names of their methods, what their decision becomes, the fields of their
//! events, their random numbers, and the names of their variables. They run behind [`Controller`](crate::Controller) as every other one:
//! those in Python (`bindings/src/controller`), and those in JavaScript and WebAssembly of a web page (`web/src/controller`).

mod decision;
mod draws;
mod fields;
mod handler;
mod names;
mod numbers;

pub use decision::Decision;
pub use draws::Draws;
pub use handler::Handler;
pub use names::kept;
pub use numbers::{Numbers, names_of_event, names_of_path};
