//! Asks the person at the client: an assistant does not confirm its own calls.

use std::time::Duration;

use rmcp::{
    Peer, RoleServer,
    model::{ElicitRequestParams, ElicitationAction, ElicitationSchema},
};
use serde_json::Value;

use crate::failure::Failure;

const ANSWER_TIMEOUT: Duration = Duration::from_mins(5);
const CONFIRM: &str = "confirm";

pub(super) async fn ask(person: &Peer<RoleServer>, question: String) -> Result<(), Failure> {
    let asked = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        requested_schema: ElicitationSchema::builder().required_bool(CONFIRM).build_unchecked(),
    };
    if person.supported_elicitation_modes().is_empty() {
        return Err(Failure::new(
            "nothing was changed: this client cannot ask a person to confirm (MCP elicitation), so changes cannot be made \
             through it; use the console or the command line",
        ));
    }
    let answer = person.create_elicitation_with_timeout(asked, Some(ANSWER_TIMEOUT)).await;
    let answer = answer.map_err(|error| {
        Failure::new(format!(
            "nothing was changed: the question was not answered ({error}); call the tool again"
        ))
    })?;
    let is_confirmed =
        answer.content.as_ref().and_then(|content| content.get(CONFIRM)) == Some(&Value::Bool(true));
    if answer.action == ElicitationAction::Accept && is_confirmed {
        Ok(())
    } else {
        Err(Failure::new("nothing was changed: the person at the client did not confirm"))
    }
}
