//! Every link between documents works on GitHub and on the site.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use http::HeaderMap;
use http_body_util::BodyExt as _;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::{markdown, site};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn documents() -> Vec<PathBuf> {
    let folders = [root(), root().join("docs"), root().join("docs/guides")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect()
}

fn anchors(text: &str) -> HashSet<String> {
    markdown::render("x", text).parts.into_iter().map(|part| part.heading.anchor).collect()
}

#[test]
fn links_between_documents_work_on_github() {
    let mut count = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let links = Parser::new_ext(&text, Options::ENABLE_TABLES).filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. }) if !dest_url.contains("://") => Some(dest_url),
            _ => None,
        });
        for link in links {
            count += 1;
            let (file, anchor) =
                link.split_once('#').map_or((&*link, None), |(file, anchor)| (file, Some(anchor)));
            let to = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            assert!(to.exists(), "{link} in {}", document.display());
            if let Some(anchor) = anchor {
                let known = anchors(&fs::read_to_string(&to).unwrap());
                assert!(known.contains(anchor), "{link} in {}: {known:?}", document.display());
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// The values of an attribute in the tags of a page; in code, what looks like a tag is escaped.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let tags = page.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    tags.filter_map(|tag| tag.split_once(&format!(" {attribute}=\""))?.1.split('"').next()).collect()
}

#[tokio::test]
async fn links_work_on_the_site() {
    let mut pages = HashMap::new();
    for path in site::paths() {
        let response = site::respond(path, None, &HeaderMap::new());
        if response.headers()["content-type"].to_str().unwrap().starts_with("text/html") {
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            pages.insert(path, String::from_utf8(bytes.to_vec()).unwrap());
        }
    }
    let elsewhere = ["/docs", "/openapi.json"];
    let known: HashSet<_> = site::paths().into_iter().chain(elsewhere).collect();
    for (path, page) in &pages {
        for link in values(page, "href") {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            let (to, anchor) = link.split_once('#').map_or((link, None), |(to, anchor)| (to, Some(anchor)));
            let to = if to.is_empty() { path } else { to.split('?').next().unwrap() };
            assert!(known.contains(to), "{link} in {path}");
            if let Some(anchor) = anchor {
                assert!(values(&pages[to], "id").contains(&anchor), "{link} in {path}");
            }
        }
        let mut ids = HashSet::new();
        for id in values(page, "id") {
            assert!(ids.insert(id), "{id} is there twice in {path}");
        }
    }
    assert!(pages.len() > 20, "{}", pages.len());
}
