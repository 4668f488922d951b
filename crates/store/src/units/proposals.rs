//! Changes of the configuration that wait for somebody else.

use std::sync::LazyLock;

use tollgate_domain::{
    Timestamp,
    approval::{Approval, ApprovalState},
    event::EventKind,
    id::{ApprovalId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    ConfigChange, ConfigProposal, ConfigPut, NewCircuitEvent, ProposalDecided, Proposed,
};

use super::{
    approvals::approvals,
    config, directory,
    out_events::{Notice, notify},
};
use crate::{
    prelude::*,
    rows::{
        approval,
        out_event::{CONFIGURATION, write_proposal},
    },
};

/// The columns that [`read`] takes.
macro_rules! proposal_columns {
    () => {
        "SELECT environment_id, id, state, approval, change_id, from_version, document, actor, request, at, version
         FROM config_proposals WHERE environment_id = $1"
    };
}

approvals! { ConfigProposal, read, proposal_columns!(), "", "id", "state", |id: &ApprovalId| *id }

fn read(cells: &mut Cells<'_>) -> Result<ConfigProposal, Fault> {
    let (environment, id) = (cells.id()?, cells.id()?);
    let (state, stored) = (cells.text()?, cells.text()?);
    let change = ConfigChange {
        id: cells.id()?,
        from_version: cells.count("version that a change was made from")?,
        document: cells.text_or_none()?.unwrap_or_default(),
        actor: cells.text()?,
        request: cells.text()?,
        at: cells.moment()?,
        circuits: Vec::new(),
    };
    let version = cells.number_or_none()?.map(u64::try_from).transpose();
    let version = version.map_err(|_| CorruptRow("version that a change became"))?;
    Ok(ConfigProposal { environment, approval: approval::parse(id, &state, &stored)?, change, version })
}

pub(crate) async fn propose<S: Session>(
    s: &mut S,
    proposal: &ConfigProposal,
    event: EventId,
    most: u32,
) -> Result<Effect<Proposed>, Fault> {
    let ConfigProposal { environment, approval, change, .. } = proposal;
    // One at a time, so that they are counted right.
    directory::lock(s).await?;
    if directory::stamp(s, *environment).await?.is_none() {
        return Ok(Effect::Nothing(Proposed::EnvironmentMissing));
    }
    if s.exists(&ONE, values![*environment, approval.id]).await? {
        return Ok(Effect::Nothing(Proposed::Done));
    }
    let sql = "SELECT count(*) FROM config_proposals WHERE environment_id = $1 AND state = 'required'";
    let open: u64 = s.query_one(sql, values![*environment], |cells| cells.count("open proposals")).await?;
    if open >= u64::from(most) {
        return Ok(Effect::Nothing(Proposed::TooMany));
    }
    let sql = "INSERT INTO config_proposals
             (environment_id, id, state, approval, change_id, from_version, document, actor, request, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let stored = approval::write(approval);
    let values = values![
        *environment,
        approval.id,
        approval.state.as_str(),
        stored.as_deref(),
        change.id,
        rows::version(change.from_version),
        &change.document,
        &change.actor,
        &change.request,
        change.at
    ];
    s.execute(sql, values).await?;
    let (kind, about) = (EventKind::ApprovalRequired, (CONFIGURATION, approval.id.to_bytes()));
    let notice = Notice {
        environment: *environment,
        id: event,
        kind,
        about,
        at: change.at,
        state: write_proposal(change),
    };
    notify(s, notice).await?;
    Ok(Effect::Written(Proposed::Done))
}

pub(crate) async fn decide<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    decided: &Approval,
    actor: &str,
    at: Timestamp,
    circuits: &[NewCircuitEvent],
) -> Result<Effect<ProposalDecided>, Fault> {
    directory::lock(s).await?;
    let proposal = s.query_opt(&ONE, values![environment, decided.id], read).await?;
    let Some(proposal) = proposal.filter(|proposal| proposal.approval.is_open()) else {
        return Ok(Effect::Nothing(ProposalDecided::NotOpen));
    };
    let mut version = None;
    let mut done = Effect::Written(ProposalDecided::Dropped);
    if decided.state == ApprovalState::Approved {
        let (actor, circuits) = (actor.to_owned(), circuits.to_vec());
        let change = ConfigChange { actor, at, circuits, ..proposal.change };
        done = match config::put(s, environment, &change).await?.into_value() {
            ConfigPut::Done { version: put, directory } => {
                version = Some(rows::version(put));
                Effect::Directory(ProposalDecided::InForce { version: put, directory })
            }
            ConfigPut::Stale { current } => {
                return Ok(Effect::Nothing(ProposalDecided::Stale { current }));
            }
            ConfigPut::EnvironmentMissing => return Ok(Effect::Nothing(ProposalDecided::NotOpen)),
        };
    }
    let sql = "UPDATE config_proposals SET state = $3, approval = $4, document = NULL, version = $5
         WHERE environment_id = $1 AND id = $2";
    let approval = approval::write(decided);
    s.execute(sql, values![environment, decided.id, decided.state.as_str(), approval.as_deref(), version])
        .await?;
    Ok(done)
}
