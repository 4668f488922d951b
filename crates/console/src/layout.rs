//! What pages are made of: the frame around them, errors, formats, plots, assets.

pub(crate) mod assets;
pub(crate) mod commands;
pub(crate) mod format;
pub(crate) mod frame;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod review;
