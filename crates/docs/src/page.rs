//! The layout that every page of the site shares.

use askama::Template;

use crate::{
    documents::{self, Document},
    markdown::{Heading, Rendered},
    search::Section,
};

/// What stands around a page.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    title: &'a str,
    /// Where the page is, to mark it in the menu.
    path: &'a str,
    /// What was searched for.
    query: &'a str,
    /// Stands for the style and the script in their addresses.
    version: &'a str,
    /// The menu.
    groups: &'static [(&'static str, &'static [Document])],
}

impl<'a> Frame<'a> {
    pub(crate) fn new(title: &'a str, path: &'a str, version: &'a str) -> Self {
        Self { title, path, query: "", version, groups: documents::GROUPS }
    }

    fn is_here(&self, document: &Document) -> bool {
        self.path.strip_prefix("/docs/") == Some(document.name)
    }
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    frame: Frame<'a>,
    html: &'a str,
    headings: Vec<&'a Heading>,
    markdown: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage<'a> {
    frame: Frame<'a>,
    found: Vec<&'static Section>,
}

#[derive(Template)]
#[template(path = "not_found.html")]
struct NotFoundPage<'a> {
    frame: Frame<'a>,
}

/// A document.
pub(crate) fn document(frame: Frame<'_>, rendered: &Rendered) -> Result<String, askama::Error> {
    let headings = rendered.parts.iter().map(|part| &part.heading);
    let page = DocumentPage {
        markdown: format!("{}.md", frame.path),
        headings: headings.filter(|heading| (2..=3).contains(&heading.level)).collect(),
        html: &rendered.html,
        frame,
    };
    page.render()
}

/// What was found.
pub(crate) fn search(
    frame: Frame<'_>,
    query: &str,
    found: Vec<&'static Section>,
) -> Result<String, askama::Error> {
    SearchPage { frame: Frame { query, ..frame }, found }.render()
}

/// What is shown where there is no page.
pub(crate) fn not_found(frame: Frame<'_>) -> Result<String, askama::Error> {
    NotFoundPage { frame }.render()
}
