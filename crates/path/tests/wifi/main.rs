//! The medium of IEEE 802.11 against what is known of it: Bianchi's equations, the table of ns-3, closed forms, and relations
//! between cells.

mod bianchi;
mod cell;
mod closed_forms;
mod occupancy;
mod relations;
