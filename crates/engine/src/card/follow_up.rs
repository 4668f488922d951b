//! Checking paid payments for refunds and disputes of which no webhook came: seldom, for a long time, and without a trace
//! where there is nothing new.

use tollgate_domain::{
    card::Trigger,
    id::{EnvironmentId, PaymentId},
    transaction::Dispute,
};

use super::{
    CardProvider,
    at_provider::{sent_to, subject},
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{Call, CardPayment, Reading, StoreError},
};

impl Engine {
    /// One check of one paid payment. Where somebody else changes it meanwhile, that was the better check.
    pub(crate) async fn follow_up_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<(), StoreError> {
        let Some(payment) = self.store.payment(environment, id).await? else { return Ok(()) };
        let view = self.view(environment);
        let found = view.as_deref().map(|view| self.provider_of_order(view, &payment.order));
        let is_checked = match found {
            Some(Ok(provider))
                if !self
                    .check_account(environment, sent_to(&payment), provider.provider)
                    .is_unreachable() =>
            {
                self.check_paid(&provider, payment.clone()).await?
            }
            _ => false,
        };
        if !is_checked {
            // No caller waits for it: it is asked for again later, and does not show as waiting.
            let mut update = PaymentUpdate::of(self, payment, None);
            update.follow_up_again();
            update.commit().await?;
        }
        Ok(())
    }

    /// `false` if the provider did not respond.
    async fn check_paid(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
    ) -> Result<bool, StoreError> {
        let Some(subject) = subject(&payment, provider.confirmation()) else { return Ok(false) };
        let Call { outcome, mut logs } = self.read_payment(provider, &payment, subject).await?;
        let Ok(reading) = outcome else { return Ok(false) };
        let mut update = PaymentUpdate::of(self, payment, None);
        let Reading::Report(report) = reading else {
            // Its webhooks tell of refunds and disputes, and nothing else does.
            update.progress().follow_up = None;
            update.commit().await?;
            return Ok(true);
        };
        update.apply_report(&report, Trigger::Other, "resolver");
        let open = update.payment().disputes.iter().rfind(|known| !known.is_closed()).map(|it| it.id.clone());
        if (report.disputed || open.is_some()) && !update.has_discrepancies() {
            let call = self.current_dispute(provider, update.payment(), open.as_deref()).await;
            if let Some(Call { outcome, logs: more }) = call {
                logs.extend(more);
                if let Ok(Some(news)) = outcome {
                    update.dispute(news, "resolver");
                }
            }
        }
        if update.moves() || update.has_discrepancies() {
            update.record_calls(&logs);
        }
        update.schedule_next_check();
        update.commit().await?;
        Ok(true)
    }

    /// Asks for the newest dispute of a payment; `None` if there is nothing that could be contested.
    pub(super) async fn current_dispute(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        known: Option<&str>,
    ) -> Option<Call<Option<Dispute>>> {
        let reference = payment.transaction.as_ref()?.state.provider_reference.as_deref()?;
        Some(provider.cards.dispute(provider.provider, reference, known).await)
    }
}
