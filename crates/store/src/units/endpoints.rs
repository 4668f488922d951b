//! The endpoints of an environment.

use tollgate_domain::id::{EndpointId, EnvironmentId};
use tollgate_engine::ports::{Endpoint, EndpointAdded, EndpointChanged};

use crate::{
    prelude::*,
    rows::endpoint::{ENDPOINTS, endpoint_columns, is_made},
};

/// The environment is locked first, so that two who count at once do not both find room for one more.
pub(crate) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    endpoint: &Endpoint,
    most: u32,
) -> Result<Effect<EndpointAdded>, Fault> {
    // Not as strong a lock as for a removal, which would wait for every key that is issued.
    let sql = S::DIALECT.pick(
        "SELECT 1 FROM environments WHERE id = $1",
        "SELECT 1 FROM environments WHERE id = $1 FOR NO KEY UPDATE",
    );
    if !s.exists(sql, values![environment]).await? {
        return Ok(Effect::Nothing(EndpointAdded::EnvironmentMissing));
    }
    if find(s, environment, endpoint.id).await?.is_some() {
        return Ok(Effect::Nothing(EndpointAdded::Done));
    }
    let sql = "SELECT count(*) FROM event_endpoints WHERE environment_id = $1";
    let count: u32 = s.query_one(sql, values![environment], read).await?;
    if count >= most {
        return Ok(Effect::Nothing(EndpointAdded::TooMany));
    }
    s.insert(&ENDPOINTS, vec![row![environment, ..endpoint]]).await?;
    Ok(Effect::Written(EndpointAdded::Done))
}

pub(crate) const LIST: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM event_endpoints p WHERE p.environment_id = $1 ORDER BY p.id"
);

pub(crate) async fn list<S: Session>(s: &mut S, environment: EnvironmentId) -> Result<Vec<Endpoint>, Fault> {
    s.query(LIST, values![environment], read).await
}

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<Option<Endpoint>, Fault> {
    let sql = concat!(
        "SELECT ",
        endpoint_columns!(),
        " FROM event_endpoints p WHERE p.environment_id = $1 AND p.id = $2"
    );
    s.query_opt(sql, values![environment, id], read).await
}

pub(crate) async fn change<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    endpoint: &Endpoint,
) -> Result<Effect<EndpointChanged>, Fault> {
    // On the right of an assignment, a column is as it was before.
    let sql = "UPDATE event_endpoints SET revision = revision + 1, url = $4, description = $5, filter = $6,
             disabled = $7, secrets = $8, updated_at = $9,
             failures = CASE WHEN disabled IS NOT NULL AND CAST($7 AS TEXT) IS NULL THEN 0 ELSE failures END,
             rests_until = CASE WHEN disabled IS NOT NULL AND CAST($7 AS TEXT) IS NULL THEN NULL
                 ELSE rests_until END
         WHERE environment_id = $1 AND id = $2 AND revision = $3";
    let values = row![
        environment,
        endpoint.id,
        rows::version(endpoint.revision),
        &endpoint.url,
        &endpoint.description,
        ..&endpoint.filter,
        &endpoint.disabled,
        ..&endpoint.secrets,
        endpoint.updated_at
    ];
    if s.execute(sql, &values).await? == 0 {
        return Ok(Effect::Nothing(match find(s, environment, endpoint.id).await? {
            None => EndpointChanged::Missing,
            Some(stored) if is_made(&stored, endpoint) => EndpointChanged::Done,
            Some(_) => EndpointChanged::Stale,
        }));
    }
    if endpoint.disabled.is_some() {
        park_waiting(s, environment, endpoint.id).await?;
    }
    Ok(Effect::Written(EndpointChanged::Done))
}

macro_rules! park {
    ($index:literal) => {
        concat!(
            "UPDATE event_deliveries",
            $index,
            " SET state = 'parked', due_at = NULL
             WHERE environment_id = $1 AND endpoint_id = $2 AND state = 'waiting' AND state <> 'delivered'"
        )
    };
}

pub(crate) const PARK: &str = park!(" INDEXED BY event_deliveries_by_state");

/// Gives up what waits for an endpoint that is sent nothing anymore.
pub(super) async fn park_waiting<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<(), Fault> {
    s.execute(S::DIALECT.pick(PARK, park!("")), values![environment, id]).await.map(drop)
}

pub(crate) async fn remove<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<Effect<bool>, Fault> {
    let sql = "DELETE FROM event_endpoints WHERE environment_id = $1 AND id = $2";
    if s.execute(sql, values![environment, id]).await? == 0 {
        return Ok(Effect::Nothing(false));
    }
    let sql = "DELETE FROM event_deliveries WHERE environment_id = $1 AND endpoint_id = $2";
    s.execute(sql, values![environment, id]).await?;
    Ok(Effect::Written(true))
}
