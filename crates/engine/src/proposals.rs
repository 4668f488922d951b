//! Changes of the configuration that somebody else puts in force.

use serde_json::{Value, json};
use tollgate_configuration::{Change, ConfigWarning, Configuration, diff};
use tollgate_domain::{
    approval::{Approval, ApprovalState, Vote, VoteError},
    id::{ApprovalId, EnvironmentId, EventId},
};

use crate::{
    approvals::{DecideError, audited_action},
    audit_log::Audited,
    circuit_events::forced_notices,
    configure::{ConfigRead, ConfigureError, Origin, described_changes, put_in_force},
    engine::Engine,
    ports::{ConfigChange, ConfigProposal, ConfigVersion, ProposalDecided, Proposed},
};

/// Changes of one configuration that wait at the same time: only one of them can be put in force anyway.
const MAX_OPEN_PROPOSALS: u32 = 20;

/// What a proposal would change in the configuration that is in force.
#[derive(Debug, Clone)]
pub struct ProposedChange {
    /// The version in force.
    pub version: u64,
    /// The configuration it would be.
    pub configuration: Configuration,
    pub changes: Vec<Change>,
    /// What is probably not meant.
    pub warnings: Vec<ConfigWarning>,
}

impl Engine {
    /// Keeps a change until somebody else has approved it.
    pub(crate) async fn propose_config(
        &self,
        environment: EnvironmentId,
        origin: &Origin,
        change: ConfigChange,
        changes: &[Value],
    ) -> Result<ApprovalId, ConfigureError> {
        let reasons = vec!["configuration".to_owned()];
        let approval = Approval { makers: origin.people.clone(), ..self.new_approval(1, reasons, None)? };
        let id = approval.id;
        let audited = Audited::new("config.propose", id)
            .in_environment(environment)
            .before(json!({ "version": change.from_version }))
            .after(json!({ "changes": changes }));
        let proposal = ConfigProposal { environment, approval, change, version: None };
        let (store, event) = (self.audited(origin, audited), self.new_id(EventId::new)?);
        match store.propose_config(&proposal, event, MAX_OPEN_PROPOSALS).await? {
            Proposed::Done => {
                self.outbox_notify.notify_one();
                Ok(id)
            }
            Proposed::TooMany => Err(ConfigureError::TooManyProposals),
            Proposed::EnvironmentMissing => Err(ConfigureError::Missing),
        }
    }

    /// What an open proposal would change; `None` once it is decided.
    pub async fn proposed_change(
        &self,
        proposal: &ConfigProposal,
    ) -> Result<Option<ProposedChange>, ConfigureError> {
        if !proposal.approval.is_open() {
            return Ok(None);
        }
        let environment = proposal.environment;
        let name = self.environment_name(environment).await?;
        let proposed = self.proposed_configuration(proposal).await?;
        let current = self.store.config(environment).await?.ok_or(ConfigureError::Missing)?;
        let today = self.clock.now().utc_date();
        self.with_opened(environment, current, move |current, _| {
            let replaced = proposed.providers.replaced_secrets(&current.configuration.providers);
            let replaced = replaced.iter().map(String::as_str);
            let changes = diff(&current.configuration.to_public(), &proposed.to_public(), replaced);
            let warnings = proposed.warnings(&name, today);
            Ok(Some(ProposedChange { version: current.version, configuration: proposed, changes, warnings }))
        })
        .await
    }

    async fn proposed_configuration(
        &self,
        proposal: &ConfigProposal,
    ) -> Result<Configuration, ConfigureError> {
        let stored = ConfigVersion { version: 0, document: Some(proposal.change.document.clone()) };
        let opened = self.with_opened(proposal.environment, stored, |read, _| Ok(read)).await?;
        Ok(opened.configuration)
    }

    /// Takes in a person's decision: the change is put in force, or never will be.
    pub(crate) async fn decide_proposal(
        &self,
        proposal: ConfigProposal,
        vote: Vote,
        origin: &Origin,
    ) -> Result<ConfigProposal, DecideError> {
        let ConfigProposal { environment, ref change, .. } = proposal;
        let mut approval = proposal.approval.clone();
        let (approves, at) = (vote.approves, vote.at);
        let actor = format!("{}, approved by {}", change.actor, vote.name);
        self.take_vote(environment, &mut approval, vote).await?;
        let deciding = Audited::new(audited_action(approves), approval.id)
            .in_environment(environment)
            .after(json!({ "state": approval.state.as_str(), "proposedBy": change.actor }));
        let (mut entries, mut circuits) = (vec![deciding], Vec::new());
        if approval.state == ApprovalState::Approved {
            let proposed = self.proposed_configuration(&proposal).await?;
            let ConfigRead { configuration: current, version } = self.config(environment).await?;
            // Where another version came in between, nothing is put in force, and so nothing is recorded.
            let changes = described_changes(&current, &proposed);
            let forced = forced_notices(&current, &proposed, at);
            circuits = self.forced_events(forced, at).map_err(ConfigureError::from)?;
            let replacing = Audited::new("config.replace", environment);
            entries.push(put_in_force(replacing, environment, version, &changes));
        }
        let store = self.audited_all(origin, entries);
        let deciding = store.decide_config_proposal(environment, &approval, &actor, at, &circuits);
        let version = match deciding.await? {
            ProposalDecided::InForce { version, directory } => {
                self.directory.catch_up_with_config(environment, version, directory).await;
                self.outbox_notify.notify_one();
                Some(version)
            }
            ProposalDecided::Dropped => None,
            ProposalDecided::NotOpen => {
                let now = self.store.config_proposal(environment, approval.id).await?;
                let state = now.ok_or(DecideError::Missing)?.approval.state;
                return Err(VoteError::Decided(state).into());
            }
            ProposalDecided::Stale { current } => {
                self.cancel_proposal(proposal, current, origin).await?;
                return Err(DecideError::Stale { current });
            }
        };
        let change = ConfigChange { document: String::new(), ..proposal.change };
        Ok(ConfigProposal { environment, approval, change, version })
    }

    /// A change that was made from a version which is not in force anymore never will be.
    async fn cancel_proposal(
        &self,
        proposal: ConfigProposal,
        current: u64,
        origin: &Origin,
    ) -> Result<(), DecideError> {
        let canceled = Approval { state: ApprovalState::Canceled, ..proposal.approval };
        let audited = Audited::new("approval.cancel", canceled.id)
            .in_environment(proposal.environment)
            .before(json!({ "version": proposal.change.from_version }))
            .after(json!({ "currentVersion": current }));
        let (store, now) = (self.audited(origin, audited), self.clock.now());
        store.decide_config_proposal(proposal.environment, &canceled, &origin.actor, now, &[]).await?;
        Ok(())
    }
}
