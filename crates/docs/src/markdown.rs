//! A document as HTML, with its headings and the sections between them.

use std::{collections::HashMap, ops::Range};

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html,
};

use crate::documents;

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 1 for the title.
    pub(crate) level: u8,
    pub(crate) text: String,
    pub(crate) anchor: String,
}

/// A heading with what stands below it, up to the next.
pub(crate) struct Part {
    pub(crate) heading: Heading,
    /// As it was written.
    pub(crate) markdown: String,
    /// The words alone.
    pub(crate) plain: String,
}

/// A document, read.
pub(crate) struct Rendered {
    pub(crate) html: String,
    pub(crate) parts: Vec<Part>,
}

/// Reads a document, whose name says where its links start from.
pub(crate) fn render(name: &str, text: &str) -> Rendered {
    let events: Vec<_> = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter().collect();
    let parts = parts(text, &events);
    let mut writer = Writer {
        name,
        parts: parts.iter(),
        to: Vec::new(),
        links: Vec::new(),
        heading: None,
        is_table: false,
        is_head: false,
        cell_end: "",
    };
    let mut events = events.into_iter().map(|(event, _)| event).peekable();
    while let Some(event) = events.next() {
        let next = events.peek();
        writer.take(event, next);
    }
    let mut html = String::new();
    push_html(&mut html, writer.to.into_iter());
    Rendered { html, parts }
}

/// Where a link leads on the site.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// An address.
    Page(String),
    /// A file of the repository, which the site does not have.
    Repository(String),
}

/// What a link in the document `name` means.
pub(crate) fn target(name: &str, link: &str) -> Target {
    if link.starts_with('#') || link.contains("://") {
        return Target::Page(link.to_owned());
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let path = if let Some(absolute) = file.strip_prefix('/') {
        absolute.to_owned()
    } else {
        let mut folders: Vec<_> = std::iter::once("docs").chain(name.split('/')).collect();
        folders.pop();
        for step in file.split('/') {
            if step == ".." {
                folders.pop();
            } else {
                folders.push(step);
            }
        }
        folders.join("/")
    };
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    let document =
        path.strip_prefix("docs/").and_then(|page| page.strip_suffix(".md")).and_then(documents::named);
    match document {
        Some(document) => Target::Page(document.path() + &anchor),
        None if path == "docs/openapi.json" => Target::Page("/openapi.json".to_owned()),
        // An address of the server.
        None if link.starts_with('/') => Target::Page(link.to_owned()),
        None => Target::Repository(path),
    }
}

/// The sections, each with the anchor that GitHub gives its heading.
fn parts(text: &str, events: &[(Event<'_>, Range<usize>)]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut anchors: HashMap<String, usize> = HashMap::new();
    let (mut is_heading, mut from) = (false, 0);
    for (event, range) in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                close(&mut parts, text.get(from..range.start));
                let heading = Heading { level: number(*level), text: String::new(), anchor: String::new() };
                parts.push(Part { heading, markdown: String::new(), plain: String::new() });
                is_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => {
                is_heading = false;
                from = range.end;
                if let Some(Part { heading, .. }) = parts.last_mut() {
                    let plain = slug(&heading.text);
                    let earlier = anchors.entry(plain.clone()).or_default();
                    heading.anchor = if *earlier == 0 { plain } else { format!("{plain}-{earlier}") };
                    *earlier += 1;
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                if let Some(part) = parts.last_mut() {
                    if is_heading { &mut part.heading.text } else { &mut part.plain }.push_str(text);
                }
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::TableCell | TagEnd::Item) => {
                if let Some(part) = parts.last_mut() {
                    if is_heading { &mut part.heading.text } else { &mut part.plain }.push(' ');
                }
            }
            _ => {}
        }
    }
    close(&mut parts, text.get(from..));
    parts
}

fn close(parts: &mut [Part], markdown: Option<&str>) {
    if let Some(part) = parts.last_mut() {
        markdown.unwrap_or_default().trim().clone_into(&mut part.markdown);
    }
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// As GitHub makes anchors: small letters, digits, `-` and `_`, with `-` for spaces.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Passes on what the Markdown means, with what the site adds to it.
struct Writer<'a, 'n> {
    name: &'n str,
    /// The headings to come.
    parts: std::slice::Iter<'n, Part>,
    to: Vec<Event<'a>>,
    /// How each open link ends.
    links: Vec<Option<String>>,
    heading: Option<&'n Heading>,
    is_table: bool,
    /// Whether the cells are those of a table's head.
    is_head: bool,
    /// How the open cell ends.
    cell_end: &'static str,
}

impl<'a> Writer<'a, '_> {
    fn html(&mut self, html: impl Into<CowStr<'a>>) {
        self.to.push(Event::Html(html.into()));
    }

    fn take(&mut self, event: Event<'a>, next: Option<&Event<'a>>) {
        match event {
            // The documents have no HTML: what looks like it is text.
            Event::Html(text) | Event::InlineHtml(text) => self.to.push(Event::Text(text)),
            Event::Start(Tag::HtmlBlock) => self.html("<p>"),
            Event::End(TagEnd::HtmlBlock) => self.html("</p>"),
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                self.heading = self.parts.next().map(|part| &part.heading);
                let id = self.heading.map(|heading| heading.anchor.clone().into());
                self.to.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some(heading) = self.heading.take().filter(|heading| heading.level > 1) {
                    let (anchor, text) = (&heading.anchor, escaped(&heading.text));
                    self.html(format!(
                        r##" <a class="anchor" href="#{anchor}" aria-label="Link to {text}">#</a>"##
                    ));
                }
                self.to.push(Event::End(TagEnd::Heading(level)));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                match target(self.name, &dest_url) {
                    Target::Page(address) => {
                        self.links.push(None);
                        self.to.push(Event::Start(Tag::Link {
                            link_type,
                            dest_url: address.into(),
                            title,
                            id,
                        }));
                    }
                    Target::Repository(path) => {
                        self.links.push(Some(path));
                        self.html("<span>");
                    }
                }
            }
            Event::End(TagEnd::Link) => match self.links.pop().flatten() {
                Some(path) => self.html(format!(
                    "</span> <span class=\"hint\">(<code>{}</code> in the repository)</span>",
                    escaped(&path)
                )),
                None => self.to.push(Event::End(TagEnd::Link)),
            },
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language,
                    CodeBlockKind::Indented => CowStr::from(""),
                };
                let label = if language.is_empty() {
                    "Example".to_owned()
                } else {
                    format!("Example, {}", escaped(&language))
                };
                self.html(format!(
                    r#"<div class="code"><pre tabindex="0" role="group" aria-label="{label}"><code>"#
                ));
            }
            Event::End(TagEnd::CodeBlock) => self.html("</code></pre></div>\n"),
            other => self.take_table(other, next),
        }
    }

    /// A table may be wider than a phone. The style hides a head without words.
    fn take_table(&mut self, event: Event<'a>, next: Option<&Event<'a>>) {
        let is_empty = matches!(next, Some(Event::End(TagEnd::TableCell)));
        match event {
            Event::Start(Tag::Table(_)) => {
                self.is_table = true;
                self.html(r#"<div class="wide" tabindex="0" role="group" aria-label="Table"><table>"#);
            }
            Event::End(TagEnd::Table) => {
                self.is_table = false;
                self.html("</tbody></table></div>\n");
            }
            // A long name may go on in the next line, so that its column leaves room for the others.
            Event::Code(text) if self.is_table => {
                let text = escaped(&text).replace('_', "_<wbr>").replace('/', "/<wbr>");
                self.html(format!("<code>{text}</code>"));
            }
            Event::Start(Tag::TableHead) => {
                self.is_head = true;
                self.html("<thead><tr>");
            }
            Event::End(TagEnd::TableHead) => {
                self.is_head = false;
                self.html("</tr></thead><tbody>");
            }
            Event::Start(Tag::TableRow) => self.html("<tr>"),
            Event::End(TagEnd::TableRow) => self.html("</tr>\n"),
            Event::Start(Tag::TableCell) => {
                // A cell without words heads nothing.
                let (start, end) = if self.is_head && !is_empty {
                    (r#"<th scope="col">"#, "</th>")
                } else {
                    ("<td>", "</td>")
                };
                self.cell_end = end;
                self.html(start);
            }
            Event::End(TagEnd::TableCell) => self.html(self.cell_end),
            other => self.to.push(other),
        }
    }
}

/// For text and for an attribute's value.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_of_github() {
        let text = "# One\n## POST /client/v1/a/`<ref>`/b\n## What's `x_y`?\n## One\n```sh\n# no heading\n```\n### One\n";
        let rendered = render("x", text);
        let anchors: Vec<_> = rendered.parts.iter().map(|part| part.heading.anchor.as_str()).collect();
        assert_eq!(anchors, ["one", "post-clientv1arefb", "whats-x_y", "one-1", "one-2"]);
        assert!(rendered.html.contains(r#"<h2 id="whats-x_y">"#), "{}", rendered.html);
        assert!(rendered.html.contains(r##"href="#one-2" aria-label="Link to One""##), "{}", rendered.html);
        let section = &rendered.parts[3];
        assert_eq!((&*section.markdown, &*section.plain), ("```sh\n# no heading\n```", "# no heading\n"));
    }

    #[test]
    fn links_lead_to_pages_where_the_site_has_them() {
        let page = |link| Target::Page(String::from(link));
        let repository = |path| Target::Repository(String::from(path));
        for (name, link, wanted) in [
            ("cli", "webhooks.md", page("/docs/webhooks")),
            ("cli", "webhooks.md#catching-up", page("/docs/webhooks#catching-up")),
            ("guides/bank-transfer", "../sdks.md", page("/docs/sdks")),
            ("cli", "guides/bank-transfer.md", page("/docs/guides/bank-transfer")),
            ("guides/bank-transfer", "first-payment.md", page("/docs/guides/first-payment")),
            ("cli", "#here", page("#here")),
            ("cli", "openapi.json", page("/openapi.json")),
            ("overview", "/docs/cli.md", page("/docs/cli")),
            ("overview", "/docs", page("/docs")),
            ("cli", "https://example.com/x.md", page("https://example.com/x.md")),
            ("cli", "ARCHITECTURE.md#x", repository("docs/ARCHITECTURE.md")),
            ("guides/bank-transfer", "../../LICENSE", repository("LICENSE")),
        ] {
            assert_eq!(target(name, link), wanted, "{link} in {name}");
        }
    }

    #[test]
    fn code_tables_and_what_looks_like_html_are_text() {
        let text =
            "# T\n\na <b> [c](../LICENSE)\n\n```html\n<i>\n```\n\n| | d |\n|---|---|\n| 1 | <2 `a_<b>` |\n";
        let html = render("x", text).html;
        for part in [
            "a &lt;b&gt; <span>c</span> <span class=\"hint\">(<code>LICENSE</code> in the repository)</span>",
            "aria-label=\"Example, html\"><code>&lt;i&gt;\n</code></pre></div>",
            "<thead><tr><td></td><th scope=\"col\">d</th></tr></thead><tbody><tr><td>1</td>",
            "<td>&lt;2 <code>a_<wbr>&lt;b&gt;</code></td></tr>\n</tbody></table></div>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
    }
}
