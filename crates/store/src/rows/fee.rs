//! The numbers of a payment: sums in columns of their own, the way to them as JSON beside.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tollgate_domain::{
    BasisPoints, Minor, Principal,
    fee::{Bound, FeeLayer, FeeSnapshot, LayerFee},
};

use crate::prelude::*;

/// The way to both layers' fees; the fees themselves have columns.
pub(crate) fn layers(fee: &FeeSnapshot) -> String {
    json!({ "platform": layer(&fee.platform), "organization": layer(&fee.organization) }).to_string()
}

/// What is not there is left out: every payment has two of these.
fn layer(fee: &LayerFee) -> Value {
    let mut layer = json!({
        "enabled": fee.layer.enabled,
        "fixedMinor": fee.layer.fixed.get(),
        "percentBps": fee.layer.percent.get(),
        "minimumMinor": fee.layer.minimum.map(Minor::get),
        "capMinor": fee.layer.cap.map(Minor::get),
        "percentPartMinor": fee.percent_part.get(),
        "beforeBoundsMinor": fee.before_bounds.get(),
        "bound": fee.bound.map(bound_name),
    });
    if let Value::Object(fields) = &mut layer {
        fields.retain(|_, value| !value.is_null());
    }
    layer
}

/// Reads the columns principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor and
/// fee_layers.
pub(crate) fn read(cells: &mut Cells<'_>) -> Result<FeeSnapshot, Fault> {
    let principal = cells.count("principal").map(Principal::new)?.ok_or(CorruptRow("principal"))?;
    let (platform, organization) = (cells.amount()?, cells.amount()?);
    let (fee, total_debit) = (cells.amount()?, cells.amount()?);
    let layers: Layers = cells.word("fee", |text| serde_json::from_str(text).ok())?;
    Ok(FeeSnapshot {
        principal,
        platform: layers.platform.into_fee(platform)?,
        organization: layers.organization.into_fee(organization)?,
        fee,
        total_debit,
    })
}

/// All the numbers of a payment as JSON, for records that are JSON anyway.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredFee {
    principal_minor: u64,
    platform_fee_minor: u64,
    organization_fee_minor: u64,
    layers: Value,
}

impl StoredFee {
    pub(crate) fn of(fee: &FeeSnapshot) -> Self {
        Self {
            principal_minor: fee.principal.minor(),
            platform_fee_minor: fee.platform.fee.get(),
            organization_fee_minor: fee.organization.fee.get(),
            layers: json!({ "platform": layer(&fee.platform), "organization": layer(&fee.organization) }),
        }
    }

    pub(crate) fn read(self) -> Result<FeeSnapshot, CorruptRow> {
        let damaged = CorruptRow("amounts that were captured");
        let layers: Layers = serde_json::from_value(self.layers).map_err(|_| damaged)?;
        let principal = Principal::new(self.principal_minor).ok_or(damaged)?;
        let platform = layers.platform.into_fee(minor(self.platform_fee_minor)?)?;
        let organization = layers.organization.into_fee(minor(self.organization_fee_minor)?)?;
        let fee = platform.fee.checked_add(organization.fee).ok_or(damaged)?;
        let total_debit = fee.checked_add(principal.into()).ok_or(damaged)?;
        Ok(FeeSnapshot { principal, platform, organization, fee, total_debit })
    }
}

#[derive(Deserialize)]
struct Layers {
    platform: Layer,
    organization: Layer,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    enabled: bool,
    fixed_minor: u64,
    percent_bps: u16,
    minimum_minor: Option<u64>,
    cap_minor: Option<u64>,
    percent_part_minor: u64,
    before_bounds_minor: u64,
    bound: Option<String>,
}

impl Layer {
    fn into_fee(self, fee: Minor) -> Result<LayerFee, CorruptRow> {
        let bound = self.bound.map(|name| bound(&name).ok_or(CorruptRow("bound of a fee"))).transpose()?;
        Ok(LayerFee {
            layer: FeeLayer {
                enabled: self.enabled,
                fixed: minor(self.fixed_minor)?,
                percent: BasisPoints::new(self.percent_bps).ok_or(CorruptRow("percentage of a fee"))?,
                minimum: self.minimum_minor.map(minor).transpose()?,
                cap: self.cap_minor.map(minor).transpose()?,
            },
            percent_part: minor(self.percent_part_minor)?,
            before_bounds: minor(self.before_bounds_minor)?,
            bound,
            fee,
        })
    }
}

fn minor(stored: u64) -> Result<Minor, CorruptRow> {
    Minor::new(stored).ok_or(CorruptRow("amount of a fee"))
}

const fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Minimum => "minimum",
        Bound::Cap => "cap",
    }
}

fn bound(name: &str) -> Option<Bound> {
    [Bound::Minimum, Bound::Cap].into_iter().find(|bound| bound_name(*bound) == name)
}
