//! Writes JSON straight into bytes, for the one answer that is asked for tens of thousands of times a second.
//!
//! Field names are our own words and need no escaping: [`field!`] makes each into `,"name":` when the program is
//! compiled. Texts are escaped only where they must be.

use tollgate_domain::Minor;

/// A field's name with what stands around it.
macro_rules! field {
    ($name:literal) => {
        $crate::json::writer::Field(concat!(",\"", $name, "\":"))
    };
}
pub(crate) use field;

#[derive(Clone, Copy)]
pub(crate) struct Field(pub(crate) &'static str);

pub(crate) struct ObjectWriter<'a> {
    bytes: &'a mut Vec<u8>,
    is_empty: bool,
}

pub(crate) fn object(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
    bytes.push(b'{');
    fill(&mut ObjectWriter { bytes, is_empty: true });
    bytes.push(b'}');
}

impl ObjectWriter<'_> {
    /// An amount, as a string of digits.
    pub(crate) fn minor(&mut self, name: Field, amount: Minor) {
        self.name(name);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(itoa::Buffer::new().format(amount.get()).as_bytes());
        self.bytes.push(b'"');
    }

    pub(crate) fn optional_minor(&mut self, name: Field, amount: Option<Minor>) {
        match amount {
            Some(amount) => self.minor(name, amount),
            None => self.null(name),
        }
    }

    pub(crate) fn number(&mut self, name: Field, number: u32) {
        self.name(name);
        self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    pub(crate) fn boolean(&mut self, name: Field, truth: bool) {
        self.name(name);
        self.bytes.extend_from_slice(if truth { b"true" } else { b"false" });
    }

    pub(crate) fn null(&mut self, name: Field) {
        self.name(name);
        self.bytes.extend_from_slice(b"null");
    }

    pub(crate) fn word(&mut self, name: Field, word: &'static str) {
        self.plain(name, word);
    }

    /// A text known to need no escaping: letters, digits and the like.
    pub(crate) fn plain(&mut self, name: Field, word: &str) {
        self.name(name);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(word.as_bytes());
        self.bytes.push(b'"');
    }

    /// The first fields of an object, as they are written.
    pub(crate) fn ready(&mut self, fields: &str) {
        self.is_empty = fields.is_empty();
        self.bytes.extend_from_slice(fields.as_bytes());
    }

    pub(crate) fn text(&mut self, name: Field, text: &str) {
        self.name(name);
        write_text(self.bytes, text);
    }

    pub(crate) fn optional_text(&mut self, name: Field, text: Option<&str>) {
        match text {
            Some(text) => self.text(name, text),
            None => self.null(name),
        }
    }

    pub(crate) fn texts<'t>(&mut self, name: Field, texts: impl Iterator<Item = &'t str>) {
        self.list(name, texts, write_text);
    }

    pub(crate) fn object(&mut self, name: Field, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.name(name);
        object(self.bytes, fill);
    }

    /// A list, each item written by `write`.
    pub(crate) fn list<T>(
        &mut self,
        name: Field,
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.name(name);
        self.bytes.push(b'[');
        for (place, item) in items.enumerate() {
            if place > 0 {
                self.bytes.push(b',');
            }
            write(self.bytes, item);
        }
        self.bytes.push(b']');
    }

    fn name(&mut self, Field(name): Field) {
        // The first field has no comma before it.
        let name = if self.is_empty { name.strip_prefix(',').unwrap_or(name) } else { name };
        self.is_empty = false;
        self.bytes.extend_from_slice(name.as_bytes());
    }
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    if needs_escaping(text.as_bytes()) {
        // Rare: names in a configuration are plain. A text is always JSON, so this cannot fail.
        bytes.extend_from_slice(&serde_json::to_vec(text).unwrap_or_default());
    } else {
        bytes.push(b'"');
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'"');
    }
}

/// Checks 16 bytes at once where there are as many; the last 16 may overlap those before them.
fn needs_escaping(text: &[u8]) -> bool {
    let escaped = |byte: &u8| u8::from(*byte < b' ') | u8::from(*byte == b'"') | u8::from(*byte == b'\\');
    let any = |bytes: &[u8]| bytes.iter().fold(0, |any, byte| any | escaped(byte));
    let lanes = |bytes: &[u8; 16]| any(bytes);
    let (whole, _) = text.as_chunks();
    match text.last_chunk() {
        Some(last) => whole.iter().fold(lanes(last), |any, bytes| any | lanes(bytes)) != 0,
        None => any(text) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_to_escape_is_found_wherever_it_stands() {
        for length in 0..70 {
            let plain = "~".repeat(length);
            assert!(!needs_escaping(plain.as_bytes()), "{length}");
            for place in 0..length {
                for byte in [0, 0x1f, b'"', b'\\'] {
                    let mut text = plain.clone().into_bytes();
                    text[place] = byte;
                    assert!(needs_escaping(&text), "{byte} at {place} of {length}");
                }
            }
        }
        assert!(!needs_escaping(" ü€😀 and more than sixteen bytes".as_bytes()));
    }

    #[test]
    fn what_is_written_is_the_json_it_stands_for() {
        let mut bytes = Vec::new();
        object(&mut bytes, |it| {
            it.minor(field!("a"), Minor::new(9_007_199_254_740_993).unwrap());
            it.optional_minor(field!("b"), None);
            it.number(field!("c"), 290);
            it.boolean(field!("d"), true);
            it.text(field!("e"), "plain ü");
            it.word(field!("w"), "web_card");
            it.text(field!("f"), "quote \" slash \\ line \n tab \t nul \u{0}");
            it.texts(field!("g"), ["x", "\""].into_iter());
            it.texts(field!("h"), [].into_iter());
            it.object(field!("i"), |it| it.optional_text(field!("j"), None));
            it.object(field!("k"), |_| {});
        });
        let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let expected = serde_json::json!({
            "a": "9007199254740993", "b": null, "c": 290, "d": true, "e": "plain ü", "w": "web_card",
            "f": "quote \" slash \\ line \n tab \t nul \u{0}", "g": ["x", "\""], "h": [], "i": {"j": null}, "k": {}
        });
        assert_eq!(read, expected);
    }
}
