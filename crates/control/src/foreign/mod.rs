//! What controllers in other languages share: the names of their methods, what their decision becomes, their random
//! numbers, and the names of their variables. They run behind [`Controller`](crate::Controller) as every other one:
//! those in Python (`bindings/src/controller`), and those in JavaScript and WebAssembly of a web page (`web/src/controller`).

mod decision;
mod draws;
mod handler;
mod names;

pub use decision::Decision;
pub use draws::Draws;
pub use handler::Handler;
pub use names::kept;
