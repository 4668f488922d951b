//! What outlives the process: every change of the providers' objects, appended to one file before it is answered.
//!
//! A line of the file is all that one change did, so that a process killed while it writes leaves the change whole or not at all. A line
//! is handed to the operating system and not synced to disk: a killed process loses nothing that was answered; a machine that
//! loses power may.

use crate::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, ErrorKind, Write as _};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use tokio::sync::Notify;

/// The file is written anew once it has grown by so much, and by as much again as it began with.
const GROWTH_MIN: u64 = 64 << 20;
/// More words than the providers have, all together.
const WORDS_MAX: usize = 10_000;

/// A word of a provider's own vocabulary, such as a status. Fields of this type need
/// `#[serde(deserialize_with = "archive::word")]`.
pub(crate) type Word = &'static str;

/// Reads a word. Each is kept once and for ever; there are few.
pub(crate) fn word<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    static WORDS: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let text = String::deserialize(from)?;
    let mut words = lock(&WORDS);
    if let Some(known) = words.get(text.as_str()) {
        return Ok(known);
    }
    if words.len() >= WORDS_MAX {
        return Err(serde::de::Error::custom("too many different words"));
    }
    let word: Word = Box::leak(text.into_boxed_str());
    words.insert(word);
    Ok(word)
}

/// Reads a word that may be missing: `#[serde(deserialize_with = "archive::optional_word")]`.
pub(crate) fn optional_word<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    #[derive(Deserialize)]
    struct Read(#[serde(deserialize_with = "word")] Word);
    Ok(Option::<Read>::deserialize(from)?.map(|read| read.0))
}

/// Shared text: `#[serde(with = "archive::text")]`.
pub(crate) mod text {
    use crate::prelude::{Arc, Deserialize};

    pub(crate) fn serialize<S: serde::Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Into::into)
    }
}

/// An object of some part of a provider's state; nothing where it was removed.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    /// Whose: `stripe.charges`.
    pub(crate) part: String,
    /// Its place by age.
    pub(crate) number: u64,
    pub(crate) id: String,
    object: Box<RawValue>,
}

impl Row {
    pub(crate) fn object<T: DeserializeOwned>(&self) -> serde_json::Result<Option<T>> {
        serde_json::from_str(self.object.get())
    }
}

/// A part of a provider's state that outlives the process.
pub(crate) trait Part {
    /// Bounds the number of its objects.
    fn bound(&mut self, _objects_max: usize) {}
    /// From now on remembers what changes, until it is written.
    fn keep_changes(&mut self);
    fn write_changes(&mut self, rows: &mut Rows<'_>);
    fn write_all(&self, rows: &mut Rows<'_>);
    fn restore(&mut self, row: &Row) -> serde_json::Result<()>;
}

/// The parts of a state, named as its fields are: `parts!(self: charges refunds)`.
macro_rules! parts {
    ($of:ident: $($part:ident)*) => {
        vec![$((stringify!($part), &mut $of.$part)),*]
    };
}
pub(crate) use parts;

/// Rows of one part on their way into a line.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    line: &'a mut Line,
    owner: &'a str,
    part: &'a str,
}

impl Rows<'_> {
    /// Adds an object; `None` says that it was removed.
    pub(crate) fn add(&mut self, number: u64, id: &str, object: Option<&impl Serialize>) {
        let line = &mut self.line.0;
        let length = line.len();
        line.push(if line.is_empty() { b'[' } else { b',' });
        let row = (format_args!("{}.{}", self.owner, self.part), number, id, object);
        if let Err(error) = serde_json::to_writer(&mut *line, &row) {
            line.truncate(length);
            tracing::error!(%error, part = self.part, id, "an object of the simulator cannot be written");
        }
    }
}

/// What is written at once.
#[derive(Debug, Default)]
pub(crate) struct Line(Vec<u8>);

impl Line {
    pub(crate) fn rows<'a>(&'a mut self, owner: &'a str, part: &'a str) -> Rows<'a> {
        Rows { line: self, owner, part }
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.extend_from_slice(b"]\n");
        Some(self.0)
    }
}

#[derive(Debug)]
pub(crate) struct Archive {
    path: PathBuf,
    inner: Mutex<Inner>,
    /// Notified when the file is to be written anew.
    pub(crate) has_grown: Notify,
}

#[derive(Debug)]
struct Inner {
    file: File,
    length: u64,
    rewrite_at: u64,
    /// Half a line may stand at its end.
    is_torn: bool,
}

impl Archive {
    /// Opens the file, which is made where there is none. It is to be read and written anew before anything is appended.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = private().append(true).open(path)?;
        let inner = Mutex::new(Inner { file, length: 0, rewrite_at: 0, is_torn: false });
        Ok(Self { path: path.to_owned(), inner, has_grown: Notify::new() })
    }

    /// Every row, in the order they were written. What cannot be read was being written when the process ended, or is of another
    /// version; it is left out.
    pub(crate) fn read(&self, mut visit: impl FnMut(&Row)) -> io::Result<()> {
        for line in BufReader::new(File::open(&self.path)?).split(b'\n') {
            let line = line?;
            if line.is_empty() {
                continue;
            }
            let rows: Vec<Box<RawValue>> = match serde_json::from_slice(&line) {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::warn!(%error, "a line of the simulator's file cannot be read");
                    continue;
                }
            };
            for row in &rows {
                match serde_json::from_str(row.get()) {
                    Ok(row) => visit(&row),
                    Err(error) => tracing::warn!(%error, "a row of the simulator's file cannot be read"),
                }
            }
        }
        Ok(())
    }

    /// Appends a change. Writing to memory of the operating system takes microseconds, so no task is made for it.
    pub(crate) fn append(&self, line: Line) {
        let Some(mut text) = line.finish() else { return };
        let mut inner = lock(&self.inner);
        let was_torn = inner.is_torn;
        if was_torn {
            text.insert(0, b'\n');
        }
        inner.length += u64::try_from(text.len()).unwrap_or_default();
        let written = inner.file.write_all(&text);
        inner.is_torn = written.is_err();
        if let Err(error) = written {
            tracing::error!(%error, "the simulator's file cannot be written");
        }
        if was_torn || inner.is_torn {
            // A change is missing. Written anew, the file is whole.
            inner.rewrite_at = 0;
        }
        if inner.length >= inner.rewrite_at {
            inner.rewrite_at = u64::MAX;
            self.has_grown.notify_one();
        }
    }

    /// Writes the file anew, with what is left. The caller sees to it that nothing changes meanwhile.
    pub(crate) fn rewrite(&self, write: impl FnOnce(&mut Lines) -> io::Result<()>) -> io::Result<()> {
        let mut inner = lock(&self.inner);
        // Whatever happens, the next try is not at once.
        inner.rewrite_at = inner.length.saturating_add(GROWTH_MIN);
        let half = self.path.with_extension("new");
        match fs::remove_file(&half) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut lines = Lines { to: BufWriter::new(private().append(true).open(&half)?), length: 0 };
        write(&mut lines)?;
        let file = lines.to.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&half, &self.path)?;
        let rewrite_at = lines.length.saturating_mul(2).saturating_add(GROWTH_MIN);
        *inner = Inner { file, length: lines.length, rewrite_at, is_torn: false };
        Ok(())
    }
}

/// A file that only this user may read: there are signing secrets and account numbers in it, if only of play money.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    options
}

/// A file that is written anew.
#[derive(Debug)]
pub(crate) struct Lines {
    to: BufWriter<File>,
    length: u64,
}

impl Lines {
    /// Writes all there is of a part.
    pub(crate) fn write(&mut self, owner: &str, name: &str, part: &dyn Part) -> io::Result<()> {
        let mut line = Line::default();
        part.write_all(&mut line.rows(owner, name));
        let Some(text) = line.finish() else { return Ok(()) };
        self.length += u64::try_from(text.len()).unwrap_or_default();
        self.to.write_all(&text)
    }
}

/// A value that outlives the process.
#[derive(Debug, Default)]
pub(crate) struct Single<T> {
    value: T,
    /// What it was when it was written last.
    written: Option<T>,
    keeps_changes: bool,
}

impl<T> Deref for Single<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Single<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Clone + PartialEq + Serialize + DeserializeOwned> Part for Single<T> {
    fn keep_changes(&mut self) {
        self.keeps_changes = true;
        self.written = Some(self.value.clone());
    }

    fn write_changes(&mut self, rows: &mut Rows<'_>) {
        if self.keeps_changes && self.written.as_ref() != Some(&self.value) {
            self.written = Some(self.value.clone());
            self.write_all(rows);
        }
    }

    fn write_all(&self, rows: &mut Rows<'_>) {
        rows.add(0, "", Some(&self.value));
    }

    fn restore(&mut self, row: &Row) -> serde_json::Result<()> {
        if let Some(value) = row.object()? {
            self.value = value;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(archive: &Archive, number: u64) {
        let mut line = Line::default();
        line.rows("owner", "part").add(number, "id", Some(&"an object"));
        archive.append(line);
    }

    fn numbers(archive: &Archive) -> Vec<u64> {
        let mut numbers = Vec::new();
        archive.read(|row| numbers.push(row.number)).unwrap();
        numbers
    }

    #[test]
    fn a_full_disk_takes_one_line_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(&folder.path().join("simulator.jsonl")).unwrap();
        archive.rewrite(|_| Ok(())).unwrap();
        append(&archive, 1);
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut file = std::mem::replace(&mut lock(&archive.inner).file, full);
        append(&archive, 2);
        file.write_all(br#"[["owner.part",2,"#).unwrap();
        lock(&archive.inner).file = file;
        let is_to_be_rewritten = || lock(&archive.inner).rewrite_at == u64::MAX;
        assert!(is_to_be_rewritten());
        archive.rewrite(|_| Err(ErrorKind::StorageFull.into())).unwrap_err();
        assert!(!is_to_be_rewritten(), "not at once");
        append(&archive, 3);
        append(&archive, 4);
        assert_eq!(numbers(&archive), [1, 3, 4]);
        assert!(is_to_be_rewritten(), "there is room again for what is missing");
    }
}
