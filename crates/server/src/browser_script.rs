//! `GET /tollgate.js`, and the same script at an address that names its content, with those of earlier releases: for pages that say which
//! bytes they run.

use std::{iter, sync::LazyLock};

use axum::{extract::Request, response::Response};
use data_encoding::{BASE64, HEXLOWER};
use http::{HeaderMap, HeaderValue, header};
use sha2::{Digest as _, Sha384};
use tollgate_docs::{Keep, StaticFile};

use crate::response::{error::not_found_here, respond::ApiResult};

const SCRIPT: &[u8] = include_bytes!("../../../sdk/typescript/src/browser.js");
/// Those of earlier releases, which pages may still demand: in an upgrade, and where a page has one written into it.
const RELEASED: &[&[u8]] = &[include_bytes!("../../../sdk/typescript/released/tollgate-26867c6ac422d9bf.js")];
const CONTENT_TYPE: &str = "text/javascript; charset=utf-8";

/// A script at its lasting address.
struct Versioned {
    path: String,
    /// As the attribute of that name has it.
    integrity: String,
    file: StaticFile,
}

impl Versioned {
    fn of(script: &'static [u8]) -> Self {
        let digest = Sha384::digest(script);
        let name = HEXLOWER.encode(digest.first_chunk::<8>().map_or(&[][..], |first| first));
        Self {
            path: format!("/scripts/tollgate-{name}.js"),
            integrity: format!("sha384-{}", BASE64.encode(&digest)),
            file: StaticFile::new(CONTENT_TYPE, Keep::Forever, script),
        }
    }
}

static VERSIONED: LazyLock<Versioned> = LazyLock::new(|| Versioned::of(SCRIPT));
static EARLIER: LazyLock<Vec<Versioned>> =
    LazyLock::new(|| RELEASED.iter().map(|script| Versioned::of(script)).collect());

/// Where the script of this version is, below the public URL.
pub(crate) fn path() -> &'static str {
    &VERSIONED.path
}

/// The digest that a page may demand of it.
pub(crate) fn integrity() -> &'static str {
    &VERSIONED.integrity
}

/// The card fields for callers' own pages, which import it from here: it has no key, so any page may read it. Kept for minutes only,
/// so that a new release reaches the pages soon.
pub(crate) async fn newest(headers: HeaderMap) -> Response {
    static FILE: LazyLock<StaticFile> =
        LazyLock::new(|| StaticFile::new(CONTENT_TYPE, Keep::Minutes, SCRIPT));
    for_any_page(FILE.respond(&headers))
}

/// The script of the version that the address names.
pub(crate) async fn versioned(request: Request) -> ApiResult {
    let mut all = iter::once(&*VERSIONED).chain(&*EARLIER);
    let named = all.find(|script| script.path == request.uri().path());
    let script = named.ok_or_else(not_found_here)?;
    Ok(for_any_page(script.file.respond(request.headers())))
}

fn for_any_page(mut response: Response) -> Response {
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn every_released_script_is_served_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/typescript/released");
        let files = fs::read_dir(folder).unwrap();
        let files: BTreeSet<_> =
            files.map(|file| format!("/scripts/{}", file.unwrap().file_name().display())).collect();
        let served: BTreeSet<_> = EARLIER.iter().map(|script| script.path.clone()).collect();
        assert_eq!(files, served, "a file, its digest and `RELEASED` do not agree");
    }
}
