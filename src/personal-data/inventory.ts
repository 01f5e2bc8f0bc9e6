/**
 * Where data of a person is, column by column (the record that art. 37 of the LGPD asks for): what of it is in
 * the export, and what a deletion leaves. A test reads the database's own catalog and fails for a column that
 * is not here, and for one whose rows are not where this says.
 */
export interface Holding {
  /** The list of the export that has it, or why none has. */
  readonly exportedIn?: string
  readonly notExported?: string
  /** What deleting the account does: the rows go, or they stay, and why. */
  readonly deletion: 'erased' | `kept: ${string}`
}

const LEDGER = 'kept: tax law asks for five years of it (CTN, art. 173), by ids alone'
const LOGS =
  'kept: access logs for six months at least (Marco Civil, art. 15), by ids and addresses'

/** By `table.column`; the column says whose row it is, or is personal by itself. */
export const INVENTORY: Readonly<Record<string, Holding>> = {
  'customers.id': {
    exportedIn: 'account',
    deletion: 'kept: the id that the ledger names; name, e-mail, code and preferences are erased',
  },
  'customers.email': { exportedIn: 'account', deletion: 'erased' },
  'profiles.customer_id': { exportedIn: 'profile', deletion: 'erased' },
  'notifications.customer_id': { exportedIn: 'notifications', deletion: 'erased' },
  'top_ups.customer_id': { exportedIn: 'topups', deletion: LEDGER },
  'refunds.customer_id': {
    exportedIn: 'refunds',
    deletion: `${LEDGER}; the reason that was given is erased`,
  },
  'payment_methods.customer_id': { exportedIn: 'payment_methods', deletion: 'erased' },
  'automatic_top_ups.customer_id': { exportedIn: 'automatic_topups', deletion: 'erased' },
  'card_attempts.customer_id': {
    notExported: 'for an hour, when cards were refused, and nothing of the card',
    deletion: 'erased',
  },
  'adjustments.customer_id': {
    notExported: 'the entries that they become are in ledger_entries, with their reasons',
    deletion: LEDGER,
  },
  'adjustments.requested_by': {
    notExported: 'acts of operators; they are in activities',
    deletion: LEDGER,
  },
  'adjustments.decided_by': {
    notExported: 'acts of operators; they are in activities',
    deletion: LEDGER,
  },
  'processor_customers.customer_id': {
    notExported: 'the number of the customer at the payment processor',
    deletion: 'erased',
  },
  'external_users.customer_id': {
    notExported: 'a digest of their number at the identity provider, which nobody can read',
    deletion: 'kept: by a digest and the id, so that late news of them makes no account again',
  },
  'sign_in_users.email': {
    exportedIn: 'sign_in_users',
    deletion: 'erased',
  },
  'events.customer_id': { exportedIn: 'events', deletion: 'erased' },
  'mails.customer_id': { exportedIn: 'mails_waiting', deletion: 'erased' },
  'mails.email': {
    notExported: 'on the way to them; the invitation that it tells of is in invitations_received',
    deletion: 'erased',
  },
  'sandbox_mails.customer_id': {
    notExported: 'in sandbox mode alone, where nobody is a customer; notifications name them',
    deletion: 'erased',
  },
  'sandbox_mails.email': {
    notExported: 'in sandbox mode alone, where nobody is a customer; notifications name them',
    deletion: 'erased',
  },
  'api_keys.customer_id': {
    exportedIn: 'api_keys',
    deletion: 'kept: usage names them; they are revoked, and name and addresses are erased',
  },
  'api_keys.created_by': {
    exportedIn: 'api_keys',
    deletion: 'kept: the team pays by them; they are revoked, and name and addresses are erased',
  },
  'prompts.customer_id': { exportedIn: 'prompts', deletion: 'erased' },
  'usage_sessions.customer_id': { exportedIn: 'sessions', deletion: 'erased' },
  'usage_days.customer_id': { exportedIn: 'usage_by_month', deletion: LEDGER },
  'usage_hours.customer_id': { exportedIn: 'usage_by_month', deletion: LEDGER },
  'usage_events.customer_id': {
    notExported: 'one by one in /usage/export.json; their sums are in usage_by_month',
    deletion: `${LEDGER}; ids of sessions are erased`,
  },
  'holds.customer_id': {
    notExported: 'calls of this moment; they are usage within seconds',
    deletion: 'kept: there are none, or the deletion is refused',
  },
  'accounts.customer_id': { exportedIn: 'balance', deletion: LEDGER },
  'ledger_entries.customer_id': { exportedIn: 'ledger_entries', deletion: LEDGER },
  'teams.customer_id': {
    exportedIn: 'teams_owned',
    deletion: 'kept: usage names them; they are closed, and the name is erased',
  },
  'team_members.customer_id': { exportedIn: 'team_memberships', deletion: 'erased' },
  'team_invitations.invited_by': { exportedIn: 'invitations_sent', deletion: 'erased' },
  'team_invitations.email': { exportedIn: 'invitations_received', deletion: 'erased' },
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
    notExported: 'how long the balance lasted when it was looked at last; GET /me/runway tells it',
    deletion: 'erased',
  },
  'webhook_endpoints.customer_id': { exportedIn: 'webhooks', deletion: 'erased' },
  'webhook_attempts.customer_id': { exportedIn: 'webhook_attempts', deletion: 'erased' },
  'generated_images.customer_id': { exportedIn: 'images_waiting', deletion: 'erased' },
}
