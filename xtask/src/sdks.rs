//! The packages of the SDKs, as they are published.

use std::{fs, path::Path, process::Command};

use crate::{
    step::{Outcome, step},
    tools,
};

const FOLDER: &str = "target/sdks";

pub(crate) fn build() -> Outcome<()> {
    tools::ensure_node()?;
    tools::ensure_python()?;
    let packer = tools::ensure_python_packer()?;
    let target = fs::create_dir_all(FOLDER).and_then(|()| fs::canonicalize(FOLDER));
    let target = target.map_err(|error| format!("cannot create {FOLDER}: {error}"))?;
    step("TypeScript", || {
        let npm = |arguments: &[&str]| {
            run(Command::new("npm").args(arguments).current_dir(Path::new("sdk/typescript")))
        };
        npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
        npm(&["pack", "--silent", "--pack-destination", &target.to_string_lossy()])
    })?;
    step("Python", || {
        // First the source, then the wheel out of that.
        let build = ["-m", "build", "--outdir"];
        run(Command::new(packer.join("python")).args(build).arg(&target).arg("sdk/python"))
    })?;
    println!("\nThe packages are in {FOLDER}");
    Ok(())
}

fn run(command: &mut Command) -> Outcome<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}
