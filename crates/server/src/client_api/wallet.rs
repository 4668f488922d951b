//! `GET /client/v1/wallet`: what the environment's wallets hold.

use crate::{
    admin_api::wallets::{self, WalletResponse},
    prelude::*,
};

pub(crate) async fn read(Backend(caller): Backend) -> Done<ListResponse<WalletResponse>> {
    let held = caller.app.engine.wallets(caller.view.environment.id).await?;
    let items = held.iter().map(|(currency, balances)| wallets::answer(*currency, balances)).collect();
    respond::ok(&ListResponse::whole(items))
}
