//! What stands around every page.

/// What stands around every page.
pub(crate) struct Frame {
    pub(crate) title: String,
    /// Which entry of the menu is the page's own.
    pub(crate) section: &'static str,
    /// What the links of this environment begin with; empty outside of one.
    pub(crate) base: String,
    pub(crate) place: String,
    pub(crate) csrf: String,
    pub(crate) actor: String,
    /// What the last form has to say.
    pub(crate) said: Option<String>,
}
