//! Why receiving banks send transfers back: the network's code of each reason the wire has a name for.

use tollgate_domain::ach::is_return_code;

use super::types::Return;

/// The code of a return: the network's own where it is given, else the one of the reason's name.
pub(super) fn code(returned: Option<&Return>) -> String {
    let raw = returned.and_then(|returned| returned.raw_return_reason_code.as_deref());
    if let Some(raw) = raw.filter(|raw| is_return_code(raw)) {
        return raw.to_owned();
    }
    match returned.and_then(|returned| returned.return_reason_code.as_deref()) {
        Some(name) => {
            let known = CODES.iter().find(|(_, known)| *known == name);
            known.map_or("returned", |(code, _)| code).to_owned()
        }
        None => "returned".to_owned(),
    }
}

/// As the provider's document has them.
const CODES: [(&str, &str); 70] = [
    ("R01", "insufficient_fund"),
    ("R02", "account_closed"),
    ("R03", "no_account"),
    ("R04", "invalid_account_number_structure"),
    ("R05", "unauthorized_debit_to_consumer_account_using_corporate_sec_code"),
    ("R06", "returned_per_odfi_request"),
    ("R07", "authorization_revoked_by_customer"),
    ("R08", "payment_stopped"),
    ("R09", "uncollected_funds"),
    ("R10", "customer_advised_unauthorized_improper_ineligible_or_incomplete"),
    ("R11", "customer_advised_not_within_authorization_terms"),
    ("R12", "account_sold_to_another_dfi"),
    ("R13", "invalid_ach_routing_number"),
    ("R14", "representative_payee_deceased_or_unable_to_continue_in_that_capacity"),
    ("R15", "beneficiary_or_account_holder_deceased"),
    ("R16", "account_frozen_entry_returned_per_ofac_instruction"),
    ("R17", "file_record_edit_criteria"),
    ("R18", "improper_effective_entry_date"),
    ("R19", "amount_field_error"),
    ("R20", "non_transaction_account"),
    ("R21", "invalid_company_id"),
    ("R22", "invalid_individual_id_number"),
    ("R23", "credit_entry_refused_by_receiver"),
    ("R24", "duplicate_entry"),
    ("R25", "addenda_error"),
    ("R26", "mandatory_field_error"),
    ("R27", "trace_number_error"),
    ("R28", "routing_number_check_digit_error"),
    ("R29", "corporate_customer_advised_not_authorized"),
    ("R30", "rdfi_participant_in_check_truncation_program"),
    ("R31", "permissible_return_entry"),
    ("R32", "rdfi_non_settlement"),
    ("R33", "return_of_xck_entry"),
    ("R34", "limited_participation_dfi"),
    ("R35", "return_of_improper_debit_entry"),
    ("R36", "return_of_improper_credit_entry"),
    ("R37", "source_document_presented_for_payment"),
    ("R38", "stop_payment_on_source_document"),
    ("R39", "improper_source_document_source_document_presented"),
    ("R40", "enr_return_of_enr_entry"),
    ("R41", "enr_invalid_transaction_code"),
    ("R42", "enr_routing_number_check_digit_error"),
    ("R43", "enr_invalid_dfi_account_number"),
    ("R44", "enr_invalid_individual_id_number"),
    ("R45", "enr_invalid_individual_name"),
    ("R46", "enr_invalid_representative_payee_indicator"),
    ("R47", "enr_duplicate_enrollment"),
    ("R50", "state_law_affecting_rck_acceptance"),
    ("R51", "item_related_to_rck_entry_is_ineligible"),
    ("R52", "stop_payment_on_item_related_to_rck_entry"),
    ("R53", "item_and_rck_entry_presented_for_payment"),
    ("R61", "misrouted_return"),
    ("R62", "return_of_erroneous_or_reversing_debit"),
    ("R67", "duplicate_return"),
    ("R68", "untimely_return"),
    ("R69", "field_error"),
    ("R70", "permissible_return_entry_not_accepted"),
    ("R71", "misrouted_dishonored_return"),
    ("R72", "untimely_dishonored_return"),
    ("R73", "timely_original_return"),
    ("R74", "corrected_return"),
    ("R75", "return_not_a_duplicate"),
    ("R76", "no_errors_found"),
    ("R77", "non_acceptance_of_r62_dishonored_return"),
    ("R80", "iat_entry_coding_error"),
    ("R81", "non_participant_in_iat_program"),
    ("R82", "invalid_foreign_receiving_dfi_identification"),
    ("R83", "foreign_receiving_dfi_unable_to_settle"),
    ("R84", "entry_not_processed_by_gateway"),
    ("R85", "incorrectly_coded_outbound_international_payment"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn given(raw: Option<&str>, name: Option<&str>) -> String {
        code(Some(&Return {
            raw_return_reason_code: raw.map(str::to_owned),
            return_reason_code: name.map(str::to_owned),
        }))
    }

    #[test]
    fn a_code_is_passed_on_and_a_name_has_one() {
        for (raw, name, expected) in [
            (Some("R03"), Some("no_account"), "R03"),
            (Some("R90"), Some("one_from_the_future"), "R90"),
            (None, Some("no_account"), "R03"),
            (Some("no account 000123456789"), Some("account_closed"), "R02"),
            (Some("R3"), Some("credit_entry_refused_by_receiver"), "R23"),
            (None, Some("one_from_the_future"), "returned"),
            (None, Some("account 000123456789"), "returned"),
            (Some(""), None, "returned"),
            (None, None, "returned"),
        ] {
            assert_eq!(given(raw, name), expected);
        }
        assert_eq!(code(None), "returned");
        for (code, name) in CODES {
            assert!(is_return_code(code), "{code}");
            assert_eq!(given(None, Some(name)), code);
        }
    }
}
