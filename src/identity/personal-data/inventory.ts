/**
 * Lists personal data column by column (the record that art. 37 of the LGPD requires): which of it the export includes,
 * and what remains after a deletion. A test reads the database's catalog and fails for a column that is missing here,
 * and for rows that are not exported or erased as declared.
 */
export interface Holding {
  /** The list of the export that includes it, or the reason why none does. */
  readonly exportedIn?: string
  readonly notExported?: string
  /** Whether deleting the account erases the rows, or why it keeps them. */
  readonly deletion: 'erased' | `kept: ${string}`
}

const LEDGER = 'kept: tax law requires it for five years (CTN, art. 173), with ids alone'
const LOGS =
  'kept: access logs for at least six months (Marco Civil, art. 15), with ids and IP addresses'

/**
 * The personal data that is held, keyed by `table.column`; the column identifies the person whom the row belongs to, or
 * is personal data itself.
 */
export const INVENTORY: Readonly<Record<string, Holding>> = {
  'customers.id': {
    exportedIn: 'account',
    deletion: 'kept: the ledger refers to the id; name, e-mail, code and preferences are erased',
  },
  'charge_corrections.customer_id': {
    notExported: 'the events that they refer to are in usage_events',
    deletion: LEDGER,
  },
  'account_debts.customer_id': {
    notExported: 'causes of a negative balance, which ledger_entries and usage_events show as well',
    deletion: LEDGER,
  },
  'public_bills.customer_id': { exportedIn: 'public_bills', deletion: 'erased' },
  'audit_seal_sums.customer_id': {
    notExported: 'sums of usage_events, for the audit',
    deletion: LEDGER,
  },
  'archived_sessions.customer_id': {
    notExported: 'sums of usage sessions, for the audit; the sessions have them',
    deletion: 'erased',
  },
  'archived_session_keys.customer_id': {
    notExported: 'the key of the ids of sessions in archived files, which exports show opened',
    deletion: 'erased',
  },
  'customers.email': { exportedIn: 'account', deletion: 'erased' },
  'profiles.customer_id': { exportedIn: 'profile', deletion: 'erased' },
  'notifications.customer_id': { exportedIn: 'notifications', deletion: 'erased' },
  'top_ups.customer_id': { exportedIn: 'topups', deletion: LEDGER },
  'refunds.customer_id': {
    exportedIn: 'refunds',
    deletion: `${LEDGER}; the customer's reason and the operator's answer are erased`,
  },
  'payment_methods.customer_id': { exportedIn: 'payment_methods', deletion: 'erased' },
  'automatic_top_ups.customer_id': { exportedIn: 'automatic_topups', deletion: 'erased' },
  'card_attempts.customer_id': {
    notExported: 'the times of refused cards, for an hour, without card data',
    deletion: 'erased',
  },
  'adjustments.customer_id': {
    notExported: 'the resulting entries are in ledger_entries, with their reasons',
    deletion: `${LEDGER}; the operator's reason is erased`,
  },
  'adjustments.requested_by': {
    notExported: 'acts of operators; they are in activities',
    deletion: LEDGER,
  },
  'adjustments.decided_by': {
    notExported: 'acts of operators; they are in activities',
    deletion: LEDGER,
  },
  'customer_notes.customer_id': { exportedIn: 'operator_notes', deletion: 'erased' },
  'customer_notes.written_by': {
    notExported: 'acts of operators; they are in activities',
    deletion: "kept: by the operator's id alone, until the other customer's account is deleted",
  },
  'sign_in_second_factors.reset_requested_by': {
    notExported: 'acts of operators; they are in activities',
    deletion: 'kept: until the second factor of the other person is turned off, by ids alone',
  },
  'processor_customers.customer_id': {
    notExported: "the customer's id at the payment processor",
    deletion: 'erased',
  },
  'payer_removals.customer_id': {
    notExported: 'a deletion that waits for the payment processor',
    deletion: 'kept: until the payment processor has deleted the customer, by ids alone',
  },
  'external_users.customer_id': {
    notExported: 'a digest of their id at the identity provider, which cannot be reversed',
    deletion: 'kept: the digest and the id, so that a late event does not create the account again',
  },
  'sign_in_users.email': {
    exportedIn: 'sign_in_users',
    deletion: 'erased',
  },
  'events.customer_id': { exportedIn: 'events', deletion: 'erased' },
  'mails.customer_id': { exportedIn: 'mails_waiting', deletion: 'erased' },
  'mails.email': {
    notExported: 'a mail not yet sent; its invitation is in invitations_received',
    deletion: 'erased',
  },
  'sandbox_mails.customer_id': {
    notExported:
      'exists in sandbox mode only, which has no real customers; notifications list the mails',
    deletion: 'erased',
  },
  'sandbox_mails.email': {
    notExported:
      'exists in sandbox mode only, which has no real customers; notifications list the mails',
    deletion: 'erased',
  },
  'api_keys.customer_id': {
    exportedIn: 'api_keys',
    deletion: 'kept: usage refers to them; they are revoked, and name and addresses are erased',
  },
  'api_keys.created_by': {
    exportedIn: 'api_keys',
    deletion:
      "kept: the team's usage refers to them; they are revoked, and name and addresses are erased",
  },
  'prompts.customer_id': { exportedIn: 'prompts', deletion: 'erased' },
  'shield_counts.customer_id': { exportedIn: 'shield_counts', deletion: 'erased' },
  'usage_refusals.customer_id': { exportedIn: 'usage_refusals', deletion: 'erased' },
  'usage_sessions.customer_id': { exportedIn: 'sessions', deletion: 'erased' },
  'task_spends.customer_id': {
    notExported: 'what each key spent in a session, for its cap; the sums are in sessions',
    deletion: 'erased',
  },
  'usage_days.customer_id': { exportedIn: 'usage_by_month', deletion: LEDGER },
  'usage_hours.customer_id': { exportedIn: 'usage_by_month', deletion: LEDGER },
  'usage_events.customer_id': {
    notExported: 'one by one in /usage/export.json; their sums are in usage_by_month',
    deletion: `${LEDGER}; ids of sessions are erased`,
  },
  'holds.customer_id': {
    notExported: 'running calls; they are in usage within seconds',
    deletion: 'kept: the deletion is refused while there is one',
  },
  'accounts.customer_id': { exportedIn: 'balance', deletion: LEDGER },
  'ledger_entries.customer_id': {
    exportedIn: 'ledger_entries',
    deletion: `${LEDGER}; notes are erased`,
  },
  'teams.customer_id': {
    exportedIn: 'teams_owned',
    deletion: 'kept: usage refers to them; they are closed, and the name is erased',
  },
  'team_members.customer_id': { exportedIn: 'team_memberships', deletion: 'erased' },
  'team_invitations.invited_by': { exportedIn: 'invitations_sent', deletion: 'erased' },
  'team_invitations.email': { exportedIn: 'invitations_received', deletion: 'erased' },
  'trial_credits.customer_id': {
    notExported: 'the credit is in ledger_entries; the rest are HMACs of data that is exported',
    deletion: 'kept: an HMAC of the CPF or CNPJ, mailbox, device and network prevents a second one',
  },
  'referrals.customer_id': {
    exportedIn: 'referrals',
    deletion:
      'kept: by ids, and an HMAC of the CPF or CNPJ that was rewarded, so that nothing is rewarded twice',
  },
  'referrals.referrer_id': {
    exportedIn: 'referrals',
    deletion: 'kept: by ids alone, so that nothing is rewarded twice',
  },
  'audit_log.actor_id': { exportedIn: 'activities', deletion: LOGS },
  'audit_log.customer_id': { exportedIn: 'activities', deletion: LOGS },
  'alerts.customer_id': { exportedIn: 'alerts', deletion: 'erased' },
  'balance_watches.customer_id': {
    notExported: 'the last estimate of how long the balance lasts; GET /me/runway returns it',
    deletion: 'erased',
  },
  'webhook_endpoints.customer_id': { exportedIn: 'webhooks', deletion: 'erased' },
  'webhook_attempts.customer_id': { exportedIn: 'webhook_attempts', deletion: 'erased' },
  'usage_destinations.customer_id': { exportedIn: 'usage_destinations', deletion: 'erased' },
  'idempotency_keys.customer_id': {
    notExported:
      'answers that the customer got within the last 24 hours; their objects are exported',
    deletion: 'erased',
  },
  'stored_responses.customer_id': { exportedIn: 'stored_responses', deletion: 'erased' },
  'stored_response_sums.customer_id': {
    notExported:
      'the number and the bytes of all responses ever stored; the responses are exported',
    deletion: 'erased',
  },
  'files.customer_id': { exportedIn: 'files', deletion: 'erased' },
  'file_parts.customer_id': {
    notExported: 'the sealed content of files, which GET /v1/files/{id}/content returns',
    deletion: 'erased',
  },
  'batches.customer_id': { exportedIn: 'batches', deletion: 'erased' },
  'batch_lines.customer_id': {
    notExported: 'the sealed lines of batches, whose results the files and the batches return',
    deletion: 'erased',
  },
  'cached_answers.customer_id': {
    notExported: 'copies of answers that the account has had, sealed, for a week at most',
    deletion: 'erased',
  },
  'videos.customer_id': { exportedIn: 'videos', deletion: 'erased' },
  'generated_images.customer_id': { exportedIn: 'images_waiting', deletion: 'erased' },
}
