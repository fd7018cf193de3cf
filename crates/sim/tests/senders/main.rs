//! Single controllers end to end, against what their documents and papers say of them.

#[path = "../audited/mod.rs"]
mod audited;
mod dctcp;
mod ledbat_pp;
mod limited;
mod packet_size;
mod told;
