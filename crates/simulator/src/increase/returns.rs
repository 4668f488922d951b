//! Why receiving banks send ACH transfers back.

pub(super) const USUAL: &str = "no_account";

/// The network's code of each reason a bank gives for a domestic entry.
const CODES: &str = "\
    R01=insufficient_fund R02=account_closed R03=no_account R04=invalid_account_number_structure \
    R05=unauthorized_debit_to_consumer_account_using_corporate_sec_code R06=returned_per_odfi_request \
    R07=authorization_revoked_by_customer R08=payment_stopped R09=uncollected_funds \
    R10=customer_advised_unauthorized_improper_ineligible_or_incomplete \
    R11=customer_advised_not_within_authorization_terms R12=account_sold_to_another_dfi \
    R13=invalid_ach_routing_number R14=representative_payee_deceased_or_unable_to_continue_in_that_capacity \
    R15=beneficiary_or_account_holder_deceased R16=account_frozen_entry_returned_per_ofac_instruction \
    R17=file_record_edit_criteria R18=improper_effective_entry_date R19=amount_field_error \
    R20=non_transaction_account R21=invalid_company_id R22=invalid_individual_id_number \
    R23=credit_entry_refused_by_receiver R24=duplicate_entry R25=addenda_error R26=mandatory_field_error \
    R27=trace_number_error R28=routing_number_check_digit_error R29=corporate_customer_advised_not_authorized \
    R30=rdfi_participant_in_check_truncation_program R31=permissible_return_entry R32=rdfi_non_settlement \
    R33=return_of_xck_entry R34=limited_participation_dfi R35=return_of_improper_debit_entry \
    R36=return_of_improper_credit_entry R37=source_document_presented_for_payment \
    R38=stop_payment_on_source_document R39=improper_source_document_source_document_presented \
    R51=item_related_to_rck_entry_is_ineligible R68=untimely_return";

fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    CODES.split_whitespace().filter_map(|entry| entry.split_once('='))
}

/// Every reason that can be asked for, separated by spaces.
pub(super) fn reasons() -> String {
    codes().map(|(_, reason)| reason).collect::<Vec<_>>().join(" ")
}

/// The reason that a code of the network, such as `R01`, stands for.
pub fn return_reason(code: &str) -> Option<&'static str> {
    codes().find(|(known, _)| *known == code).map(|(_, reason)| reason)
}

pub(super) fn code(reason: &str) -> &'static str {
    codes().find(|(_, known)| *known == reason).map_or("R03", |(code, _)| code)
}
