//! The documentation as a site: the files of `docs/` as pages, as Markdown and for searching, and the way static files are
//! served. It is part of the binary, so that it is that of the binary's version.

mod documents;
mod encoding;
mod markdown;
mod page;
mod search;
mod site;
mod static_file;

pub use documents::guides;
pub use search::{Section, excerpt, find};
pub use site::respond;
pub use static_file::{Keep, StaticFile};

#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod site_tests;
