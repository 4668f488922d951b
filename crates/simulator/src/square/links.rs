//! `/v2/online-checkout/payment-links`, and what the hosted page does with them.

use super::charge::{charge, complete_order};
use super::orders::{line_item, order_for};
use super::payments::{check_currency, check_location, find as find_payment};
use super::prelude::*;
use super::source::of_card;
use crate::fields::FieldError as _;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) id: String,
    pub(crate) order_id: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) redirect_url: Option<String>,
    pub(crate) buyer_email: Option<String>,
    pub(crate) checkout_options: Option<Value>,
    pub(crate) created_at: String,
    pub(crate) description: Option<String>,
    pub(crate) payment_note: Option<String>,
    pub(crate) pre_populated: Option<Value>,
    pub(crate) url: String,
}

impl Kept for Link {}

impl Link {
    pub(crate) fn json(&self) -> Value {
        let link = object!(self: id order_id url created_at; "version": 1, "long_url": self.url);
        let given = [
            ("checkout_options", json!(self.checkout_options)),
            ("pre_populated_data", json!(self.pre_populated)),
            ("description", json!(self.description)),
            ("payment_note", json!(self.payment_note)),
        ];
        with_given(link, given)
    }
}

const CHECKOUT_OPTIONS: &str = "allow_tipping custom_fields subscription_plan_id redirect_url \
    merchant_support_email ask_for_shipping_address accepted_payment_methods app_fee_money shipping_fee \
    enable_coupon enable_loyalty";

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let (fields, context) = (Fields::of(&call.body), &call.context);
    fields.allow(&[
        "idempotency_key description quick_pay order checkout_options pre_populated_data payment_note",
    ])?;
    let order = match (fields.object("quick_pay")?, fields.object("order")?) {
        (Some(quick), None) => quick_order(context, &quick)?,
        (None, Some(order)) => described_order(context, &order)?,
        (Some(_), Some(_)) => {
            let detail = "Only one of `quick_pay` and `order` can be set.";
            return Err(Error::invalid("CONFLICTING_PARAMETERS", "order", detail));
        }
        (None, None) => return Err(Error::missing("quick_pay")),
    };
    let order = Order { is_of_link: true, ..order };
    check_currency(context, &order.total.currency)?;
    let options = fields.object("checkout_options")?;
    let redirect_url = match &options {
        Some(options) => {
            options.allow(&[CHECKOUT_OPTIONS])?;
            for switch in ["allow_tipping", "ask_for_shipping_address", "enable_coupon", "enable_loyalty"] {
                options.boolean(switch)?;
            }
            options.owned("redirect_url", 2048)?
        }
        None => None,
    };
    if redirect_url.as_ref().is_some_and(|url| !url.starts_with("https://") && !url.starts_with("http://")) {
        let detail = "The redirect URL must be a web address.";
        return Err(Error::invalid("INVALID_VALUE", "checkout_options.redirect_url", detail));
    }
    let buyer_email = match fields.object("pre_populated_data")? {
        Some(data) => data.owned("buyer_email", 256)?,
        None => None,
    };
    let id = context.id(16).to_uppercase();
    let link = Link {
        url: format!("{}/pay/{id}", context.services.base_url(Wire::Square)),
        id,
        order_id: order.id.clone(),
        idempotency_key: fields.owned("idempotency_key", 192)?,
        redirect_url,
        buyer_email,
        checkout_options: fields.value("checkout_options").cloned(),
        created_at: context.now.clone(),
        description: fields.owned("description", 4096)?,
        payment_note: fields.owned("payment_note", 500)?,
        pre_populated: fields.value("pre_populated_data").cloned(),
    };
    let answer = json!({ "payment_link": link.json(), "related_resources": { "orders": [order.json()] } });
    state.orders.put(&order.id.clone(), order);
    state.links.put(&link.id.clone(), link);
    Ok(answer)
}

fn quick_order(context: &Context, quick: &Fields<'_>) -> Answer<Order> {
    quick.allow(&["name", "price_money", "location_id"])?;
    let name = quick.required("name", 255)?;
    let price = quick.required_money("price_money")?;
    check_location(context, Some(quick.required("location_id", 50)?))?;
    let line_items = vec![line_item(context, Some(name), "1", &price)];
    Ok(Order { line_items, ..order_for(context, &price) })
}

fn described_order(context: &Context, order: &Fields<'_>) -> Answer<Order> {
    order.allow(&["location_id reference_id line_items metadata customer_id source ticket_name"])?;
    check_location(context, Some(order.required("location_id", 50)?))?;
    let mut total: Option<Money> = None;
    let mut line_items = Vec::new();
    for item in order.objects("line_items")? {
        item.allow(&["name", "quantity", "base_price_money", "note", "uid", "metadata", "item_type"])?;
        let unit = item.required_money("base_price_money")?;
        let quantity = item.required("quantity", 12)?;
        let count: i64 = quantity.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
            Error::invalid("INVALID_VALUE", "order.line_items.quantity", "Must be a positive whole number")
        })?;
        let line = unit.amount.saturating_mul(count);
        let sum = total.get_or_insert_with(|| unit.of(0));
        if sum.currency != unit.currency {
            let detail = "All line items must have the same currency.";
            return Err(Error::invalid("INVALID_VALUE", "order.line_items", detail));
        }
        sum.amount = sum.amount.saturating_add(line);
        line_items.push(line_item(context, item.text("name", 512)?, quantity, &unit));
    }
    let total = total.ok_or_else(|| Error::missing("order.line_items"))?;
    let reference_id = order.owned("reference_id", 40)?;
    let metadata = order.value("metadata").cloned();
    Ok(Order { line_items, reference_id, metadata, ..order_for(context, &total) })
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    Ok(json!({ "payment_link": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    list::page(&state.links, call, "payment_links", "", |link| {
        Some((link.id.clone(), link.created_at.clone(), link.created_at.clone(), link.json()))
    })
}

/// Withdraws a link; its order is canceled unless it was paid.
pub(super) fn delete(state: &mut State, call: &Call) -> Answer {
    let link = find(state, &call.id)?;
    state.links.remove(&link.id);
    let is_unpaid = state.orders.get(&link.order_id).is_some_and(super::orders::Order::is_unpaid);
    if !is_unpaid {
        return Ok(json!({ "id": link.id }));
    }
    orders::close(state, &call.context, &link.order_id, "CANCELED");
    Ok(json!({ "id": link.id, "cancelled_order_id": link.order_id }))
}

/// The customer presses "Pay" for what is due.
pub(super) fn pay(state: &mut State, context: &Context, id: &str, typed: &Typed) -> Answer<Payment> {
    let wrong = |mistake| Error::invalid("INVALID_CARD_DATA", "card", mistake_text(mistake));
    let card = bent_by_details(Card::read(typed).map_err(wrong)?, typed);
    pay_part(state, context, id, None, card)
}

/// The customer pays a part of what is due, or all of it. A part is only authorized; with the last one, all are captured.
pub(super) fn pay_part(
    state: &mut State,
    context: &Context,
    id: &str,
    part: Option<i64>,
    card: Card,
) -> Answer<Payment> {
    let link = find(state, id)?;
    let order = order_of(state, &link)?;
    if order.state != "OPEN" {
        return Err(Error::bad_request(format!("This order is {}.", order.state)));
    }
    let (due, order_id) = (order.due(), order.id.clone());
    let amount = part.unwrap_or(due);
    if !(1..=due).contains(&amount) {
        return Err(Error::bad_request(format!("{due} is due for this order.")));
    }
    let wish = PaymentParams {
        delay_seconds: 7 * 86_400,
        money: order.total.of(amount),
        complete_now: false,
        // What the seller calls the order stays on the order.
        reference_id: None,
        order: Some(order),
        idempotency_key: None,
        note: link.payment_note,
        buyer_email: link.buyer_email,
        customer_id: None,
        statement: None,
    };
    let payment = charge(state, context, wish, of_card(card))?;
    if amount < due {
        return Ok(payment);
    }
    complete_order(state, context, &order_id);
    find_payment(state, &payment.id)
}

pub(super) fn find(state: &State, id: &str) -> Answer<Link> {
    state.links.get_owned(id).ok_or_else(|| Error::not_found("payment link", id))
}

pub(super) fn order_of(state: &State, link: &Link) -> Answer<Order> {
    state.orders.get_owned(&link.order_id).ok_or_else(|| Error::not_found("order", &link.order_id))
}
