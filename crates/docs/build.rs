//! Compresses the API reference's script, so that the binary holds it once and small.

use std::{
    env,
    error::Error,
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use flate2::{Compression, write::GzEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let script = scalar_api_reference::get_asset("scalar.js")
        .ok_or_else(|| io::Error::other("the reference's script is missing"))?;
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let file = File::create(Path::new(&folder).join("reference.js.gz"))?;
    let mut encoder = GzEncoder::new(file, Compression::best());
    encoder.write_all(&script)?;
    encoder.finish()?;
    Ok(())
}
