//! The page between an action and what it does: its effect, who is affected, what cannot be undone, and a way back.

use std::borrow::Cow;

use askama::Template;

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page},
    },
    request::submitted::Submitted,
};

/// An action with a consequence, to be confirmed by a person.
#[derive(Default)]
pub(crate) struct Review {
    /// What will happen, as a heading.
    pub(crate) effect: Cow<'static, str>,
    /// Amounts and what else decides.
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) affected: Cow<'static, str>,
    pub(crate) permanent: Cow<'static, str>,
    /// Why it cannot be done: without this it can.
    pub(crate) obstacle: Option<String>,
    /// The address that confirms it; empty for that of the page.
    pub(crate) action: String,
    /// What the confirmation repeats.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) choices: Vec<Choice>,
    /// A way back: a title and a link.
    pub(crate) back: (String, String),
}

/// A button that confirms.
pub(crate) struct Choice {
    pub(crate) title: String,
    /// What it sends as `do`, where a review has several.
    pub(crate) value: &'static str,
    pub(crate) class: &'static str,
}

impl Choice {
    /// Does what can be followed by its opposite.
    pub(crate) fn plain(title: impl Into<String>) -> Self {
        Self { title: title.into(), value: "", class: "primary" }
    }

    /// Takes money, access or data away.
    pub(crate) fn danger(title: impl Into<String>) -> Self {
        Self { title: title.into(), value: "", class: "danger" }
    }
}

impl Review {
    /// A review that repeats a form once it is confirmed.
    pub(crate) fn of(form: &Submitted, effect: impl Into<Cow<'static, str>>) -> Self {
        Self { effect: effect.into(), fields: form.repeated(), ..Self::default() }
    }

    /// The page that asks.
    pub(crate) fn page(self, frame: Frame) -> Page {
        #[derive(Template)]
        #[template(path = "review.html")]
        struct ReviewPage {
            frame: Frame,
            review: Review,
        }

        page::render(&ReviewPage { frame, review: self })
    }
}
