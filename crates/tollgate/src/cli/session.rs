//! What every command that asks a server begins with.

use clap::Args;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{
    admin_client::AdminClient, fields::Fields, http::segment, output::Output, sandbox_file::SandboxFile,
};
use crate::failure::Failure;

/// How many organizations, applications or environments are looked at to find the one that is meant.
const MAX_LISTED: usize = 10_000;

/// What every such command takes, anywhere on the command line.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The environment; default: the sandbox's, or the only one [server commands only].
    #[arg(long, short = 'e', global = true, value_name = "ID", env = "TOLLGATE_ENVIRONMENT")]
    environment: Option<String>,
    /// Print JSON [server commands and settlement only].
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A server, a way to print, and the environment that is meant.
pub(crate) struct Session {
    pub(crate) client: AdminClient,
    pub(crate) output: Output,
    pub(crate) sandbox_file: Option<SandboxFile>,
    /// What was asked for, and what was found.
    wanted: Option<String>,
    environment: OnceCell<String>,
}

impl Session {
    pub(crate) fn open(options: Options) -> Result<Self, Failure> {
        let sandbox_file = SandboxFile::find();
        let client = AdminClient::find(sandbox_file.as_ref())?;
        // Another server's commands have nothing to do with a sandbox that happens to lie here.
        let sandbox_file =
            sandbox_file.filter(|sandbox_file| sandbox_file.base_url() == Some(client.url.as_str()));
        let wanted = options.environment.filter(|id| !id.trim().is_empty());
        let output = Output::new(options.json);
        Ok(Self { client, output, sandbox_file, wanted, environment: OnceCell::new() })
    }

    /// The environment that is meant.
    pub(crate) async fn environment(&self) -> Result<String, Failure> {
        self.environment.get_or_try_init(|| self.find_environment()).await.cloned()
    }

    async fn find_environment(&self) -> Result<String, Failure> {
        if let Some(wanted) = &self.wanted {
            let known = self.client.get(&format!("/admin/v1/environments/{}", segment(wanted))).await;
            known.map_err(|failure| {
                failure.if_missing(|| {
                    format!("environment {wanted} not found; see `tollgate environments list`")
                })
            })?;
            return Ok(wanted.clone());
        }
        if let Some(noted) = self.sandbox_file.as_ref().and_then(SandboxFile::environment) {
            return Ok(noted.to_owned());
        }
        let all = self.all_environments().await?;
        match all.as_slice() {
            [only] => Ok(only.text("id").to_owned()),
            [] => Err(Failure::new(
                "no environment yet; create one with `tollgate organizations create NAME`, then `tollgate \
                 applications create` and `tollgate environments create`",
            )),
            several => {
                let lines = several.iter().take(50).map(|environment| {
                    let names =
                        ["organizationName", "applicationName", "name"].map(|name| environment.text(name));
                    format!("\n  {}  {}", environment.text("id"), names.join(" / "))
                });
                let lines: String = lines.collect();
                Err(Failure::new(format!(
                    "there are {} environments; choose one with --environment or TOLLGATE_ENVIRONMENT:{lines}",
                    several.len()
                )))
            }
        }
    }

    /// A path below the environment that is meant.
    pub(crate) async fn path(&self, rest: &str) -> Result<String, Failure> {
        Ok(format!("/admin/v1/environments/{}{rest}", segment(&self.environment().await?)))
    }

    /// Every item of a list, from slice to slice.
    pub(crate) async fn all(&self, path: &str) -> Result<Vec<Value>, Failure> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let slice = self.client.get(&format!("{path}?limit=200{cursor}")).await?;
            items.extend_from_slice(slice.list("items"));
            match slice.optional_text("nextCursor") {
                Some(next) if items.len() < MAX_LISTED => cursor = format!("&after={}", segment(next)),
                _ => return Ok(items),
            }
        }
    }

    /// Every environment, with the names of its organization and application.
    pub(crate) async fn all_environments(&self) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        for organization in self.all("/admin/v1/organizations").await? {
            let path = format!("/admin/v1/organizations/{}/applications", segment(organization.text("id")));
            for application in self.all(&path).await? {
                let path = format!("/admin/v1/applications/{}/environments", segment(application.text("id")));
                for mut environment in self.all(&path).await? {
                    if let Some(fields) = environment.as_object_mut() {
                        fields.insert("organizationName".to_owned(), organization.text("name").into());
                        fields.insert("applicationName".to_owned(), application.text("name").into());
                    }
                    all.push(environment);
                }
            }
        }
        Ok(all)
    }
}
