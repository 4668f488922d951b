//! The clocks of the Tollgate nodes' machines, made wrong by libfaketime: it reads how far they are off from a file.

use std::path::{Path, PathBuf};

use tollgate_bench::Fault;

/// Where Debian and Ubuntu have it, for whichever processor.
const LIBRARIES: &str = "/usr/lib";
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// A machine's clock.
pub(crate) struct MachineClock {
    file: PathBuf,
    settings: Vec<(&'static str, String)>,
}

impl MachineClock {
    pub(crate) fn new(directory: &Path, number: usize) -> Result<Self, Fault> {
        let mut found = std::fs::read_dir(LIBRARIES)?.flatten().map(|entry| entry.path().join(LIBRARY));
        let library = found.find(|path| path.exists());
        let library = library.ok_or("libfaketime is missing: install it, or use --clock-jumps 0")?;
        let file = directory.join(format!("clock-{}", number + 1));
        let settings = vec![
            ("LD_PRELOAD", library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
            ("FAKETIME_CACHE_DURATION", "1".to_owned()),
            // Only the time of day is wrong; that name is read by versions before 0.9.11.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ];
        let clock = Self { file, settings };
        clock.set_hours_ahead(0)?;
        Ok(clock)
    }

    /// What a process needs in its environment to see it.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (*name, value.as_str()))
    }

    pub(crate) fn set_hours_ahead(&self, hours: i64) -> Result<(), Fault> {
        std::fs::write(&self.file, format!("{hours:+}h\n"))?;
        Ok(())
    }
}
