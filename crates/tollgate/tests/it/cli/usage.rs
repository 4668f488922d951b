//! Wrong usage, servers that are not there, tokens that open nothing: each says what to do next.

use std::{net::TcpListener, process::Command};

use serde_json::{Value, json};

use crate::support::{Start, Tenant, Terminal};

#[test]
fn the_help_has_every_command_in_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned());
    let help = terminal.shows(&["--help"]);
    assert!(terminal.shows(&["help", "keys"]).contains("rotate"));
    for group in ["Run:", "Configure:", "Tenants and keys:", "Payments:", "Events:", "Operate:", "Try out:"] {
        assert!(help.contains(group), "{help}");
    }
    for command in
        ["apply", "export", "config", "keys", "wallet", "payments", "doctor", "audit", "trigger", "endpoints"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in {help}");
        let own = terminal.shows(&[command, "--help"]);
        assert!(own.contains("--json") && own.contains("--environment"), "{own}");
    }
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned()).with("COLUMNS", "80");
    let mut asked = vec![Vec::new()];
    let mut pages = 0;
    while let Some(command) = asked.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = terminal.shows(&arguments);
        let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 80).collect();
        // A path, a URL or a long word is not broken, nor is the line of what a command takes.
        let may_be_wide = |line: &&str| line.starts_with("Usage:") || line.split_whitespace().count() <= 2;
        assert!(wide.iter().all(may_be_wide), "{arguments:?}: {wide:#?}");
        pages += 1;
        let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let commands = commands.take_while(|line| !line.is_empty());
        let names = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
            asked.push(command.iter().cloned().chain([name.to_owned()]).collect());
        }
        if command.is_empty() {
            let own = ["payments", "keys", "events", "wallet", "settlement", "trigger", "providers", "apply"];
            asked.extend(own.map(|name| vec![name.to_owned()]));
        }
    }
    assert!(pages > 30, "{pages}");
}

#[test]
fn wrong_usage_is_told_apart_from_failure() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned());
    for arguments in [
        &["nonsense"][..],
        &["apply"],
        &["keys"],
        &["keys", "revoke"],
        &["keys", "issue", "--kind", "both"],
        &["wallet", "fund", "10"],
        &["config", "rollback", "three"],
        &["exceptions", "resolve", "exc_1"],
        &["events", "resend"],
        &["events", "list", "--before", "a", "--after", "b"],
        &["trigger", "explode", "pay_1"],
        &["completions", "cobol"],
        &["serve", "--json"],
    ] {
        let said = terminal.run(arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(said.err.contains("--help"), "{arguments:?}: {said:?}");
    }
}

#[test]
fn without_a_server_it_says_how_to_name_one() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned());
    let said = terminal.fails(&["keys", "list"]);
    assert!(said.contains("TOLLGATE_URL") && said.contains("sandbox"), "{said}");
    let said = terminal
        .clone()
        .with("TOLLGATE_URL", "127.0.0.1:8080")
        .with("TOLLGATE_ADMIN_TOKEN", "a token for nobody at all")
        .fails(&["keys", "list"]);
    assert!(said.contains("https://"), "{said}");
    // A token alone, or an address alone, is not enough.
    let said = terminal.clone().with("TOLLGATE_URL", "http://127.0.0.1:1").fails(&["keys", "list"]);
    assert!(said.contains("TOLLGATE_ADMIN_TOKEN"), "{said}");

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let gone =
        terminal.with("TOLLGATE_URL", &address).with("TOLLGATE_ADMIN_TOKEN", "a token for nobody at all");
    let said = gone.fails(&["organizations", "list"]);
    assert!(
        said.contains(&address) && said.contains("is not responding") && said.contains("TOLLGATE_URL"),
        "{said}"
    );
    let said = gone.run(&["organizations", "list", "--json"]);
    let error: Value = serde_json::from_str(&said.err).unwrap();
    assert!(
        said.code == 1 && error["error"]["message"].as_str().unwrap().contains("is not responding"),
        "{said:?}"
    );
}

#[test]
fn a_wrong_token_is_told_with_where_it_came_from() {
    let server = Start::serve().run();
    let token = "another token that opens nothing";
    let said = Terminal::of(&server).with("TOLLGATE_ADMIN_TOKEN", token).fails(&["organizations", "list"]);
    assert!(said.contains("TOLLGATE_ADMIN_TOKEN") && !said.contains(token), "{said}");
    let said = Terminal::of(&server).with("TOLLGATE_ADMIN_TOKEN", token).run(&["audit", "--json"]);
    let error: Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!((said.code, &error["error"]["code"]), (1, &json!("unauthenticated")));
}

#[test]
fn a_sandboxs_token_goes_to_that_sandbox_and_nobody_else() {
    let sandbox = Start::sandbox().run();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let other = format!("http://{}", listener.local_addr().unwrap());
    let said = Terminal::beside(&sandbox).with("TOLLGATE_URL", &other).fails(&["organizations", "list"]);
    assert!(said.contains("TOLLGATE_ADMIN_TOKEN"), "{said}");
    assert!(listener.accept().is_err(), "nobody came");
}

#[test]
fn what_is_not_tollgate_is_recognised() {
    let simulator = crate::support::Simulator::start();
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned())
        .with("TOLLGATE_URL", &format!("http://{}", simulator.address()))
        .with("TOLLGATE_ADMIN_TOKEN", "a token for nobody at all");
    let said = terminal.fails(&["organizations", "list"]);
    assert!(said.contains("is not tollgate"), "{said}");
}

#[test]
fn the_environment_is_given_found_or_asked_for() {
    let server = Start::serve().run();
    let terminal = Terminal::of(&server);
    let said = terminal.fails(&["keys", "list"]);
    assert!(said.contains("no environment yet") && said.contains("organizations create"), "{said}");
    let first = Tenant::create(&mut server.admin());
    assert!(terminal.shows(&["keys", "list"]).contains("No keys yet"), "the only one there is");
    let second = Tenant::create(&mut server.admin());
    let said = terminal.fails(&["keys", "list"]);
    for part in
        [&first.environment, &second.environment, "--environment", "TOLLGATE_ENVIRONMENT", "Organization"]
    {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    terminal.json(&["keys", "issue", "-e", &second.environment]);
    let in_second = terminal.clone().with("TOLLGATE_ENVIRONMENT", &second.environment);
    assert_eq!(in_second.json(&["keys", "list"])["items"].as_array().unwrap().len(), 1);
    let given = in_second.json(&["keys", "list", "--environment", &first.environment]);
    assert_eq!(given["items"], json!([]), "what is given goes before the variable");
    let said = terminal.fails(&["keys", "list", "-e", "env_nobody"]);
    assert!(
        said.contains("environment env_nobody not found") && said.contains("environments list"),
        "{said}"
    );
    // Whatever is given stays one part of the path.
    terminal.fails(&["keys", "list", "-e", &format!("{}/config?x=", first.environment)]);
}

#[test]
fn completions_are_for_each_shell_and_name_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::nowhere(folder.path().to_owned());
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = terminal.shows(&["completions", shell]);
        assert!(script.contains("rollback") && script.contains("tollgate"), "{shell}");
    }
    let manual = terminal.shows(&["man"]);
    assert!(manual.starts_with(".ie") && manual.contains("tollgate\\-rekey(1)"), "{manual}");
    let script = folder.path().join("completions.bash");
    std::fs::write(&script, terminal.shows(&["completions", "bash"])).unwrap();
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
}

#[test]
fn nothing_is_coloured_in_a_pipe_and_a_reader_may_leave() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    assert!(!terminal.shows(&["keys", "list"]).contains('\x1b'));
    let mut child = terminal.command(&["export"]).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}
