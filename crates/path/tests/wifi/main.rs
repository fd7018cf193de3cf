//! The medium of IEEE 802.11 against what is known of it: Bianchi's equations, the table of ns-3, closed forms, what
//! follows a failure, and relations between cells.

mod bianchi;
mod cell;
mod closed_forms;
mod failures;
mod occupancy;
mod relations;
