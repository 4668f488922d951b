//! The style and the script, with the binary.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use tollgate_docs::{Keep, StaticFile};

/// The files of a page, by their names.
pub(crate) struct Assets<const COUNT: usize>([(&'static str, StaticFile); COUNT]);

impl<const COUNT: usize> Assets<COUNT> {
    pub(crate) fn new(keep: Keep, files: [(&'static str, &'static str, &'static str); COUNT]) -> Self {
        Self(files.map(|(name, kind, text)| (name, StaticFile::new(kind, keep, text))))
    }

    pub(crate) fn respond(&self, name: &str, headers: &HeaderMap) -> Response {
        let Some((_, file)) = self.0.iter().find(|(known, _)| *known == name) else {
            return (StatusCode::NOT_FOUND, "Not found.").into_response();
        };
        file.respond(headers)
    }

    /// Stands for what the files hold: another binary with other files has another.
    pub(crate) fn version(&self) -> String {
        self.0.iter().flat_map(|(_, file)| file.version().chars().take(6)).collect()
    }
}

static FILES: LazyLock<Assets<3>> = LazyLock::new(|| {
    // The pages ask for them with the version behind, so that a browser may keep them.
    Assets::new(
        Keep::Day,
        [
            ("console.css", "text/css; charset=utf-8", include_str!("../../assets/console.css")),
            ("console.js", "text/javascript; charset=utf-8", include_str!("../../assets/console.js")),
            ("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
        ],
    )
});

pub(crate) async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    FILES.respond(&name, &headers)
}

/// For the addresses of the files.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| FILES.version());
    &VERSION
}
