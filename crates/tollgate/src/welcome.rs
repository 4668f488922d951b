//! What a newcomer sees first.

use std::io::{IsTerminal, stdout};

use crate::{sandbox::Access, settings::ServerSettings};

pub(crate) fn print(access: &Access, settings: &ServerSettings) {
    let (bold, plain) = if stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let Access { base_url, environment, .. } = access;
    let secret_key = access.secret_key.expose();
    println!(
        "
  {bold}Tollgate sandbox{plain} is running at {bold}{base_url}{plain}

  secret key       {secret_key}
  publishable key  {publishable_key}
  admin token      {admin_token}
  environment      {environment}
  data             {data}  (keys are in sandbox.json there; delete the folder to start over)

  playground       {base_url}/playground  (every flow with a click)
  console          {base_url}/console     (sign in with the admin token)
  API reference    {base_url}/docs

  {bold}Try a fee quote:{plain}

  curl {base_url}/client/v1/fees/quote \\
    -H 'Authorization: Bearer {secret_key}' \\
    -H 'Content-Type: application/json' \\
    -d '{{\"amountMinor\":\"12500\",\"currency\":\"USD\"}}'

  Every call, to read and to try out: {bold}{base_url}/docs{plain}

  From 100000 minor units on, a routing rule sends the payment to the second card provider.
  Stop with Ctrl-C.
",
        publishable_key = access.publishable_key.expose(),
        admin_token = access.admin_token.expose(),
        data = settings.data_dir.display(),
    );
}
