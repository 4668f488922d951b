//! The numbers of a payment: sums in columns of their own, the way to them as JSON beside.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    BasisPoints, Minor, Principal,
    card_fee::FeeKind,
    fee::{Bound, FeeLayer, FeeSnapshot, LayerFee},
};

use crate::prelude::*;

/// The columns principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor and fee_layers, which is
/// the way to both layers' fees.
impl Stored for FeeSnapshot {
    const WIDTH: usize = 6;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        let (platform, organization) = (self.platform.fee, self.organization.fee);
        let layers = serde_json::to_string(&Layers::of(self)).unwrap_or_default();
        row.extend(row![..&self.principal, platform, organization, self.fee, self.total_debit, layers]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        let principal = cells.get()?;
        let (platform, organization) = (cells.get()?, cells.get()?);
        let (fee, total_debit) = (cells.get()?, cells.get()?);
        let layers: Layers = cells.word("fee", |text| serde_json::from_str(text).ok())?;
        let kind = layers.kind()?;
        let (platform, organization) =
            (layers.platform.into_fee(platform)?, layers.organization.into_fee(organization)?);
        Ok(Some(Self { principal, platform, organization, fee, total_debit, kind }))
    }
}

/// All the numbers of a payment as JSON, for records that are JSON anyway.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredFee {
    principal_minor: u64,
    platform_fee_minor: u64,
    organization_fee_minor: u64,
    layers: Layers,
}

impl StoredFee {
    pub(crate) fn of(fee: &FeeSnapshot) -> Self {
        Self {
            principal_minor: fee.principal.minor(),
            platform_fee_minor: fee.platform.fee.get(),
            organization_fee_minor: fee.organization.fee.get(),
            layers: Layers::of(fee),
        }
    }

    pub(crate) fn read(self) -> Result<FeeSnapshot, CorruptRow> {
        let damaged = CorruptRow("amounts of a payment");
        let kind = self.layers.kind()?;
        let principal = Principal::new(self.principal_minor).ok_or(damaged)?;
        let platform = self.layers.platform.into_fee(minor(self.platform_fee_minor)?)?;
        let organization = self.layers.organization.into_fee(minor(self.organization_fee_minor)?)?;
        let fee = platform.fee.checked_add(organization.fee).ok_or(damaged)?;
        let total_debit = fee.checked_add(principal.into()).ok_or(damaged)?;
        Ok(FeeSnapshot { principal, platform, organization, fee, total_debit, kind })
    }
}

#[derive(Serialize, Deserialize)]
struct Layers {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    organization: Layer,
    platform: Layer,
}

impl Layers {
    fn of(fee: &FeeSnapshot) -> Self {
        Self {
            kind: fee.kind.map(|kind| kind.as_str().to_owned()),
            organization: Layer::of(&fee.organization),
            platform: Layer::of(&fee.platform),
        }
    }

    fn kind(&self) -> Result<Option<FeeKind>, CorruptRow> {
        let read = |kind: &String| FeeKind::parse(kind).ok_or(CorruptRow("kind of a fee"));
        self.kind.as_ref().map(read).transpose()
    }
}

/// What is not there is left out: every payment has two of these.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    before_bounds_minor: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<StoredBound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cap_minor: Option<u64>,
    enabled: bool,
    fixed_minor: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum_minor: Option<u64>,
    percent_bps: u16,
    percent_part_minor: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredBound {
    Minimum,
    Cap,
}

impl Layer {
    fn of(fee: &LayerFee) -> Self {
        Self {
            before_bounds_minor: fee.before_bounds.get(),
            bound: fee.bound.map(|bound| match bound {
                Bound::Minimum => StoredBound::Minimum,
                Bound::Cap => StoredBound::Cap,
            }),
            cap_minor: fee.layer.cap.map(Minor::get),
            enabled: fee.layer.enabled,
            fixed_minor: fee.layer.fixed.get(),
            minimum_minor: fee.layer.minimum.map(Minor::get),
            percent_bps: fee.layer.percent.get(),
            percent_part_minor: fee.percent_part.get(),
        }
    }

    fn into_fee(self, fee: Minor) -> Result<LayerFee, CorruptRow> {
        let bound = self.bound.map(|bound| match bound {
            StoredBound::Minimum => Bound::Minimum,
            StoredBound::Cap => Bound::Cap,
        });
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

#[cfg(test)]
mod tests {
    use tollgate_domain::fee::FeeEntry;

    use super::*;

    #[test]
    fn layers_are_stored_without_what_is_not_there() {
        let layer = |minimum: Option<u64>| FeeLayer {
            enabled: true,
            fixed: Minor::new(30).unwrap(),
            percent: BasisPoints::new(290).unwrap(),
            minimum: minimum.map(|minimum| Minor::new(minimum).unwrap()),
            cap: None,
        };
        let entry = FeeEntry { platform: layer(Some(500)), organization: layer(None) };
        let fee = entry.assess(Principal::new(10_000).unwrap());
        let text = serde_json::to_string(&Layers::of(&fee)).unwrap();
        let expected = r#"{"organization":{"beforeBoundsMinor":320,"enabled":true,"fixedMinor":30,"percentBps":290,"percentPartMinor":290},"platform":{"beforeBoundsMinor":320,"bound":"minimum","enabled":true,"fixedMinor":30,"minimumMinor":500,"percentBps":290,"percentPartMinor":290}}"#;
        assert_eq!(text, expected);
        assert_eq!(StoredFee::of(&fee).read(), Ok(fee));
        let decided = fee.with_fees(FeeKind::Surcharge, Minor::ZERO, Minor::ZERO);
        assert_eq!(StoredFee::of(&decided).read(), Ok(decided));
    }
}
