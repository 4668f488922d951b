//! `GET /client/v1/wallet`: what the environment's wallets hold.

use crate::{
    admin_api::wallets,
    answer::{self, Answer},
    client_api::caller::Backend,
    list::ListAnswer,
};

pub(crate) async fn read(Backend(caller): Backend) -> Answer {
    let held = caller.app.engine.wallets(caller.view.environment.id).await?;
    let items = held.iter().map(|(currency, balances)| wallets::answer(*currency, balances)).collect();
    answer::ok(&ListAnswer::new(items, u32::MAX, None::<String>))
}
