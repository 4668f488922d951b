//! What a newcomer sees first. It fits a terminal of 80 columns, as far as paths and ports allow.

use std::io::{IsTerminal, stdout};

use crate::{sandbox::Access, settings::ServerSettings};

pub(crate) fn print(access: &Access, settings: &ServerSettings) {
    let (bold, plain) = if stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    println!("{}", text(access, &settings.data_dir.display().to_string(), bold, plain));
}

fn text(access: &Access, data: &str, bold: &str, plain: &str) -> String {
    let Access { base_url, environment, .. } = access;
    format!(
        "
  {bold}Tollgate sandbox{plain} is running at {bold}{base_url}{plain}
  Open it in a browser: playground, console, API reference and guides.

  secret key       {secret_key}
  publishable key  {publishable_key}
  admin token      {admin_token}
  environment      {environment}
  data             {data}
                   (sandbox.json has the keys; delete the folder to start over)

  {bold}Try a fee quote:{plain}

  curl {base_url}/client/v1/fees/quote \\
  -H 'Authorization: Bearer {secret_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{\"amountMinor\":\"12500\",\"currency\":\"USD\"}}'

  Payments from 1,000.00 on go to the second card provider (a routing rule).
  Below is a line for every call, webhook and change. Stop with Ctrl-C.
",
        secret_key = access.secret_key.expose(),
        publishable_key = access.publishable_key.expose(),
        admin_token = access.admin_token.expose(),
    )
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{
        id::EnvironmentId,
        tenant::{EnvironmentName, KeyKind},
    };
    use tollgate_vault::{AdminToken, IssuedKey};

    use super::*;

    #[test]
    fn the_welcome_fits_a_terminal() {
        let key = |kind| IssuedKey::generate(kind, &EnvironmentName::parse("test").unwrap()).unwrap().key;
        let access = Access {
            base_url: "http://127.0.0.1:8080".to_owned(),
            admin_token: AdminToken::generate().unwrap(),
            secret_key: key(KeyKind::Secret),
            publishable_key: key(KeyKind::Publishable),
            environment: EnvironmentId::from_bytes([7; 16]),
        };
        let text = text(&access, "tollgate-data", "", "");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
    }
}
