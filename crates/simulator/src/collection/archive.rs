//! Objects in files: appended, read by place, and given back to the disk once a file has none left.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::kept::Kept;

/// Objects begin at multiples of this many bytes, and end in spaces.
const UNIT: usize = 16;
/// A file is full after so many units: 64 MiB. With this few bits for the file, there can be a thousand.
const FILE_UNITS: u32 = 1 << FILE_UNITS_BITS;
const FILE_UNITS_BITS: u32 = 22;
const FILES_MAX: usize = 1 << (u32::BITS - FILE_UNITS_BITS);
/// A larger object stays in memory: 256 KiB, so that a whole generation fits into a file.
const OBJECT_UNITS_MAX: u16 = 1 << 14;

/// As much as most batches take.
const BUFFER_KEPT: usize = 64 << 10;

/// Where an object begins, counted over all files, and how long it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) unit: u32,
    pub(super) units: u16,
}

/// Objects to be appended in one go.
#[derive(Debug, Default)]
pub(super) struct Batch(Vec<u8>);

impl Batch {
    /// How many units the object takes. `None`: it has to stay in memory.
    pub(super) fn add(&mut self, object: &impl Kept) -> Option<u16> {
        let start = self.0.len();
        let written = serde_json::to_writer(&mut self.0, object).is_ok();
        let units = u16::try_from((self.0.len() - start).div_ceil(UNIT)).ok();
        let units = units.filter(|units| written && *units <= OBJECT_UNITS_MAX);
        self.0.resize(units.map_or(start, |units| start + usize::from(units) * UNIT), b' ');
        units
    }
}

/// The files of one collection. Without a name in the file system, they go with the process.
#[derive(Debug)]
pub(super) struct Archive {
    directory: PathBuf,
    files: Vec<Option<Appended>>,
    /// The file that is being written.
    current: usize,
    /// What the next batch is written to: memory that is asked for and given back all the time ends up in pieces.
    buffer: Vec<u8>,
    /// Nothing could be written, so that nothing is any more.
    has_failed: bool,
}

#[derive(Debug)]
struct Appended {
    file: File,
    units: u32,
    /// How many of its objects are still wanted.
    objects: usize,
}

impl Default for Archive {
    fn default() -> Self {
        Self::within(std::env::temp_dir())
    }
}

impl Archive {
    pub(super) fn within(directory: PathBuf) -> Self {
        Self { directory, files: Vec::new(), current: 0, buffer: Vec::new(), has_failed: false }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.has_failed
    }

    /// An empty batch.
    pub(super) fn batch(&mut self) -> Batch {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.shrink_to(BUFFER_KEPT);
        Batch(buffer)
    }

    /// Writes the batch, whose objects are named with their lengths, and says where each is. `None`: it could not be
    /// written.
    pub(super) fn append(&mut self, batch: Batch, objects: &[(u32, u16)]) -> Option<Vec<(u32, Place)>> {
        let written = self.write(&batch.0, objects.len());
        self.buffer = batch.0;
        match written {
            Ok(mut unit) => {
                let place = |(number, units): &(u32, u16)| {
                    let place = Place { unit, units: *units };
                    unit += u32::from(*units);
                    (*number, place)
                };
                Some(objects.iter().map(place).collect())
            }
            Err(error) => {
                static WARNED: AtomicBool = AtomicBool::new(false);
                if !WARNED.swap(true, Ordering::Relaxed) {
                    let directory = self.directory.display();
                    tracing::warn!(%directory, %error, "no temporary file: the simulator keeps all in memory");
                }
                self.has_failed = true;
                None
            }
        }
    }

    fn write(&mut self, bytes: &[u8], objects: usize) -> Result<u32> {
        let units = u32::try_from(bytes.len() / UNIT).map_err(Error::other)?;
        let has_room = |file: &Appended| file.units + units <= FILE_UNITS;
        if !self.files.get(self.current).and_then(Option::as_ref).is_some_and(has_room) {
            self.current = self.open()?;
        }
        let Some(Some(file)) = self.files.get_mut(self.current) else {
            return Err(ErrorKind::NotFound.into());
        };
        file.file.write_all_at(bytes, u64::from(file.units) * UNIT as u64)?;
        let number = u32::try_from(self.current).map_err(Error::other)?;
        let unit = (number << FILE_UNITS_BITS) + file.units;
        file.units += units;
        file.objects += objects;
        Ok(unit)
    }

    /// Opens another file, in the place of one that is gone where there is one.
    fn open(&mut self) -> Result<usize> {
        let free = self.files.iter().position(Option::is_none).unwrap_or(self.files.len());
        if free >= FILES_MAX {
            return Err(ErrorKind::StorageFull.into());
        }
        let appended = Appended { file: unnamed(&self.directory)?, units: 0, objects: 0 };
        match self.files.get_mut(free) {
            Some(place) => *place = Some(appended),
            None => self.files.push(Some(appended)),
        }
        Ok(free)
    }

    pub(super) fn read<T: Kept>(&self, place: Place) -> Option<T> {
        let read = self.try_read(place);
        if let Err(error) = &read {
            tracing::error!(%error, "the simulator cannot read its temporary file");
        }
        read.ok()
    }

    fn try_read<T: Kept>(&self, place: Place) -> Result<T> {
        let file = self.files.get(place.file()).and_then(Option::as_ref).ok_or(ErrorKind::NotFound)?;
        let mut bytes = vec![0; usize::from(place.units) * UNIT];
        file.file.read_exact_at(&mut bytes, place.offset())?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        // An object can be nested more deeply than the request it was made from.
        reader.disable_recursion_limit();
        T::deserialize(&mut reader).map_err(Error::other)
    }

    /// An object is no longer wanted.
    pub(super) fn forget(&mut self, place: Place) {
        let Some(file) = self.files.get_mut(place.file()) else { return };
        if let Some(appended) = file {
            appended.objects = appended.objects.saturating_sub(1);
            if appended.objects == 0 {
                *file = None;
            }
        }
    }

    #[cfg(test)]
    pub(super) fn files(&self) -> usize {
        self.files.iter().flatten().count()
    }
}

impl Place {
    fn file(self) -> usize {
        (self.unit >> FILE_UNITS_BITS) as usize
    }

    fn offset(self) -> u64 {
        u64::from(self.unit & (FILE_UNITS - 1)) * UNIT as u64
    }
}

/// A file that nobody else can open, and that is gone once it is closed.
fn unnamed(directory: &Path) -> Result<File> {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let (process, number) = (std::process::id(), OPENED.fetch_add(1, Ordering::Relaxed));
    let moment = crate::calendar::unix_nanos();
    let path = directory.join(format!("tollgate-simulator-{process}-{number}-{moment}"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
