//! As much of XML as bank messages use: elements, attributes, text, comments, CDATA and the five entities that need no
//! declaration. Document types are refused, so there is nothing to expand, and elements nest to a fixed depth.

use std::borrow::Cow;

use crate::{amount::shown, fault::Fault};

/// No message nests as deep as this; what walks over elements may recurse this far.
const MAX_DEPTH: usize = 64;

pub(crate) enum Event<'a> {
    Start(Tag<'a>),
    End,
    Text(Cow<'a, str>),
}

/// The beginning of an element.
#[derive(Clone, Copy)]
pub(crate) struct Tag<'a> {
    pub(crate) line: usize,
    /// Without its namespace's prefix.
    pub(crate) name: &'a str,
    /// What stands behind the name.
    attributes: &'a str,
}

/// An element with everything in it.
pub(crate) struct Element<'a> {
    pub(crate) line: usize,
    pub(crate) name: &'a str,
    attributes: &'a str,
    text: String,
    children: Vec<Element<'a>>,
}

pub(crate) struct Reader<'a> {
    rest: &'a str,
    line: usize,
    /// The names of the open elements, with their prefixes.
    open: Vec<&'a str>,
    /// `<a/>` ends where it begins.
    ends_at_once: bool,
    has_root: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, open: Vec::new(), ends_at_once: false, has_root: false }
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// How many elements are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// `None` at the end of the document.
    pub(crate) fn next(&mut self) -> Result<Option<Event<'a>>, Fault> {
        if self.ends_at_once {
            self.ends_at_once = false;
            self.open.pop();
            return Ok(Some(Event::End));
        }
        loop {
            if self.rest.is_empty() {
                let complete = self.has_root && self.open.is_empty();
                return if complete {
                    Ok(None)
                } else {
                    Err(self.fault("ends too early; download the file again"))
                };
            }
            if !self.rest.starts_with('<') {
                let text = self.take(self.rest.find('<').unwrap_or(self.rest.len()));
                if !self.open.is_empty() {
                    return self.unescape(text).map(|text| Some(Event::Text(text)));
                }
                if !text.trim().is_empty() {
                    return Err(self.fault("has text outside of its elements; download the file again"));
                }
            } else if self.rest.starts_with("<?") {
                self.take_to("?>")?;
            } else if self.rest.starts_with("<!--") {
                self.take_to("-->")?;
            } else if self.rest.starts_with("<![CDATA[") && !self.open.is_empty() {
                let cdata = self.take_to("]]>")?;
                let text = cdata.strip_prefix("<![CDATA[").and_then(|text| text.strip_suffix("]]>"));
                return Ok(Some(Event::Text(Cow::Borrowed(text.unwrap_or_default()))));
            } else if self.rest.starts_with("<!") {
                return Err(self.fault("has a document type or a declaration; bank messages have none"));
            } else if self.rest.starts_with("</") {
                return self.end().map(Some);
            } else {
                return self.start().map(|tag| Some(Event::Start(tag)));
            }
        }
    }

    fn start(&mut self) -> Result<Tag<'a>, Fault> {
        let line = self.line;
        let tag = self.take_to(">")?;
        let inner = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')).unwrap_or_default();
        let (inner, empty) = inner.strip_suffix('/').map_or((inner, false), |inner| (inner, true));
        let end = inner.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(inner.len());
        let (name, attributes) = inner.split_at_checked(end).unwrap_or((inner, ""));
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
        if name.is_empty() || !name.chars().all(is_name) || attributes.contains('<') {
            return Err(Fault::new(line, "XML", format!("`<{}` begins no element", shown(inner))));
        }
        if self.open.is_empty() && self.has_root {
            return Err(self.fault("has two outermost elements; send one message at a time"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.fault("nests deeper than any bank message"));
        }
        self.has_root = true;
        self.open.push(name);
        self.ends_at_once = empty;
        Ok(Tag { line, name: local(name), attributes })
    }

    fn end(&mut self) -> Result<Event<'a>, Fault> {
        let tag = self.take_to(">")?;
        let name =
            tag.strip_prefix("</").and_then(|tag| tag.strip_suffix('>')).unwrap_or_default().trim_end();
        match self.open.pop() {
            Some(open) if open == name => Ok(Event::End),
            open => Err(self.fault(&format!(
                "ends `{}` where `{}` is open",
                shown(name),
                shown(open.unwrap_or("nothing"))
            ))),
        }
    }

    /// The element that a tag begins, to its end.
    pub(crate) fn element(&mut self, tag: Tag<'a>) -> Result<Element<'a>, Fault> {
        let mut element = Element::of(tag);
        let mut outer: Vec<Element<'a>> = Vec::new();
        loop {
            match self.next()? {
                Some(Event::Start(tag)) => outer.push(std::mem::replace(&mut element, Element::of(tag))),
                Some(Event::Text(text)) => element.text.push_str(&text),
                Some(Event::End) => match outer.pop() {
                    Some(parent) => {
                        let child = std::mem::replace(&mut element, parent);
                        element.children.push(child);
                    }
                    None => return Ok(element),
                },
                None => return Err(self.fault("ends too early; download the file again")),
            }
        }
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::new(self.line, "XML", message)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line = self.line.saturating_add(taken.bytes().filter(|byte| *byte == b'\n').count());
        taken
    }

    fn take_to(&mut self, end: &str) -> Result<&'a str, Fault> {
        match self.rest.find(end) {
            Some(at) => Ok(self.take(at + end.len())),
            None => Err(self.fault(&format!("has no `{end}` to its end; download the file again"))),
        }
    }

    fn unescape(&self, text: &'a str) -> Result<Cow<'a, str>, Fault> {
        let Some((mut done, mut rest)) = text.split_once('&').map(|(done, rest)| (done.to_owned(), rest))
        else {
            return Ok(Cow::Borrowed(text));
        };
        loop {
            let (name, after) = rest.split_once(';').unwrap_or((rest, ""));
            let Some(letter) = entity(name) else {
                return Err(self
                    .fault(&format!("`&{}` is no entity of XML itself; others are not read", shown(name))));
            };
            done.push(letter);
            let Some((plain, next)) = after.split_once('&') else {
                done.push_str(after);
                return Ok(Cow::Owned(done));
            };
            done.push_str(plain);
            rest = next;
        }
    }
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|letter| *letter != '\0')
        }
    }
}

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

impl<'a> Tag<'a> {
    /// Every attribute as it is written; the text ends where they stop being attributes.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        attributes(self.attributes)
    }
}

fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        let (value, after) = value.strip_prefix(quote)?.split_once(quote)?;
        rest = after;
        Some((name.trim(), value))
    })
}

impl<'a> Element<'a> {
    fn of(tag: Tag<'a>) -> Self {
        let Tag { line, name, attributes } = tag;
        Self { line, name, attributes, text: String::new(), children: Vec::new() }
    }

    pub(crate) fn text(&self) -> &str {
        self.text.trim()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'a str> {
        attributes(self.attributes).find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    pub(crate) fn children(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first element at the end of a path of names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |element, name| element.children.iter().find(|child| child.name == *name))
    }

    /// The text at the end of a path of names; `None` if it is empty.
    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).map(Element::text).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, Fault> {
        let mut reader = Reader::new(text);
        let mut read = String::new();
        while let Some(event) = reader.next()? {
            match event {
                Event::Start(tag) => read.extend(["<", tag.name, ">"]),
                Event::Text(text) => read.push_str(&text),
                Event::End => read.push_str("</>"),
            }
        }
        Ok(read)
    }

    #[test]
    fn what_bank_messages_use_is_read() {
        for (text, expected) in [
            ("<?xml version=\"1.0\"?>\n<a><b>1 &lt; 2</b></a>\n", "<a><b>1 < 2</></>"),
            ("<n:a xmlns:n='u'><n:b/><!-- <c> --></n:a >", "<a><b></></>"),
            ("<a><![CDATA[<&>]]>&#65;&#x42;</a>", "<a><&>AB</>"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        for text in [
            "",
            "x",
            "<a>",
            "<a></b>",
            "</a>",
            "<a/><b/>",
            "<a/>x",
            "<a>&b;</a>",
            "<a>&#0;</a>",
            "<a>&</a>",
            "<1 <a/>",
            "<>",
            "<a",
            "<a><!-- </a>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            "<a><!ENTITY b \"c\"></a>",
            &deep,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
