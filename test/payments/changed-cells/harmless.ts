/** Changes that neither the audit finds nor the database refuses, each with the reason why it may be. */
import type { Change } from './list-changes.ts'

export interface Harmless {
  readonly table: string
  readonly columns: readonly string[]
  /** Only these changes; default: all. */
  readonly how?: readonly string[]
  /** Only of these rows; default: all. */
  readonly when?: (row: Change['row']) => boolean
  /** Other rows decide whether it is found. */
  readonly isSometimesFound?: true
  readonly why: string
}

const TEXT = 'a text for people'
const TIMES = ['earlier', 'later', 'set', 'null']
const isUnpaid = (row: Change['row']): boolean => row.paid_at === null

export const HARMLESS: readonly Harmless[] = [
  { table: 'adjustments', columns: ['reason'], why: TEXT },
  {
    table: 'adjustments',
    columns: ['decided_by'],
    how: ['another id'],
    when: ({ status }) => status === 'pending',
    why: 'nobody has decided; a decision writes it',
  },
  { table: 'api_keys', columns: ['name', 'last_four', 'created_at'], why: 'shown' },
  {
    table: 'api_keys',
    columns: ['secret_hash', 'ip_allowlist'],
    why: 'who may use the key, not what it may spend',
  },
  {
    table: 'api_keys',
    columns: ['version'],
    why: 'a node that has another version reads the key anew',
  },
  {
    table: 'api_keys',
    columns: ['revoked_at', 'paused_before'],
    how: ['set', 'earlier', 'later', 'anomaly', 'leaked', 'owner'],
    why: 'it stops the key, or waits under a pause; nothing more is spent',
  },
  { table: 'audit_seals', columns: ['sealed_at'], why: 'shown; the seal covers what it seals' },
  {
    table: 'fx_rates',
    columns: ['withdrawn_at'],
    why: 'charges keep their rate; the next one that is stored is in force',
  },
  {
    table: 'holds',
    columns: [
      'created_at',
      'dispatched_at',
      'output_began_at',
      'output_tokens_seen',
      'prompt_tokens_estimated',
      'tokens_counted',
      'tokens_window_at',
    ],
    why: 'the progress of a running call, which ends it within minutes',
  },
  {
    table: 'holds',
    columns: ['id', 'request_id', 'is_stream', 'model_id', 'markup_e4'],
    why: 'the gateway settles by what it read itself, and the settlement is proved and sealed',
  },
  {
    table: 'holds',
    columns: ['price_id'],
    how: ['+1'],
    why: 'another stored price; the settlement is proved by the one that it names',
  },
  {
    table: 'key_caps',
    columns: ['period_started_at'],
    how: ['earlier'],
    when: ({ period }) => period === 'minute',
    why: 'another minute, which is over as well',
  },
  { table: 'ledger_entries', columns: ['note'], why: TEXT },
  {
    table: 'ledger_entries',
    columns: ['created_at'],
    when: ({ reason }) => reason === 'refund_failed' || reason === 'referral_taken_back',
    why: 'its cause has no time of its own; the amount counts at once',
  },
  {
    table: 'ledger_entries',
    columns: ['created_at'],
    when: ({ reason }) => reason === 'top_up_returned' || reason === 'chargeback',
    isSometimesFound: true,
    why: 'as before; it is found before the payment, and where it made a debt',
  },
  {
    table: 'ledger_entries',
    columns: ['reference'],
    when: ({ reason }) => reason === 'referral_taken_back',
    why: 'its end counts what was taken back before; the beginning names the referral',
  },
  { table: 'markup_changes', columns: ['canceled_at'], how: TIMES, why: 'canceled all the same' },
  {
    table: 'markup_changes',
    columns: ['noticed_at', 'noticed_through'],
    why: 'what customers are told',
  },
  { table: 'price_changes', columns: ['note'], why: TEXT },
  {
    table: 'price_changes',
    columns: ['notice_percent_e2', 'noticed_at', 'noticed_through'],
    why: 'what customers are told',
  },
  {
    table: 'prices',
    columns: ['*', 'created_at', 'digest', 'model_id', 'units'],
    how: ['forged', 'earlier', 'later', 'another text', 'another'],
    why: 'a price counts by its id, which acts and charges name, and its amounts, which charges prove',
  },
  { table: 'referrals', columns: ['closed_at', 'closed_reason'], why: 'closed all the same' },
  {
    table: 'referrals',
    columns: ['rewarded_tax_id_digest'],
    why: 'a digest of what is not stored',
  },
  { table: 'refund_parts', columns: ['due_at', 'tries', 'error'], why: 'when it is tried again' },
  {
    table: 'refund_parts',
    columns: ['is_manual'],
    why: 'by whom the money goes back; how much is proved',
  },
  {
    table: 'refund_parts',
    columns: ['status'],
    how: ['waiting', 'sent'],
    when: ({ status }) => status === 'waiting' || status === 'sent',
    why: 'both wait for the processor, which is asked before it is told',
  },
  { table: 'refunds', columns: ['ended_at'], how: ['later'], why: 'only shown' },
  {
    table: 'refunds',
    columns: ['decided_at'],
    how: ['null'],
    when: ({ status, kind }) => status === 'failed' && kind === 'withdrawal',
    why: 'a charge-back may end a refund before anybody decides',
  },
  { table: 'refunds', columns: ['reason', 'decision_note'], why: TEXT },
  {
    table: 'refunds',
    columns: ['status'],
    how: ['approved', 'processing'],
    when: ({ status }) => status === 'approved' || status === 'processing',
    why: 'both wait for the processor',
  },
  {
    table: 'task_spends',
    columns: ['last_held_at'],
    how: ['later'],
    why: 'the task is kept longer',
  },
  {
    table: 'task_spends',
    columns: ['spent_since'],
    how: ['earlier'],
    why: 'a task counts all its calls; none was earlier',
  },
  { table: 'teams', columns: ['name', 'created_at'], why: 'shown' },
  { table: 'teams', columns: ['deleted_at'], how: ['set'], why: 'closes the team' },
  {
    table: 'top_ups',
    columns: ['pix_payload', 'pix_qr_code_base64', 'boleto_url', 'boleto_line', 'page_url'],
    why: 'how to pay, which is shown',
  },
  {
    table: 'top_ups',
    columns: ['card_brand', 'card_last_four', 'payment_method_id', 'was_in_review'],
    why: 'with which card, which is shown',
  },
  { table: 'top_ups', columns: ['checked_at', 'expires_at'], why: 'when it is looked at again' },
  {
    table: 'top_ups',
    columns: ['processor', 'processor_payment_id'],
    how: ['another text'],
    why: 'the nightly comparison with the processor finds it',
  },
  {
    table: 'top_ups',
    columns: ['processor_payment_id'],
    how: ['null'],
    when: isUnpaid,
    why: 'no money has moved; the sweeper looks it up by our id',
  },
  {
    table: 'top_ups',
    columns: ['status'],
    how: ['pending', 'expired', 'canceled', 'failed'],
    when: isUnpaid,
    why: 'unpaid all the same; what is paid later is credited in each of these states',
  },
  {
    table: 'top_ups',
    columns: ['status'],
    how: ['chargeback'],
    when: ({ status }) => status === 'refunded',
    why: 'all of it was returned either way',
  },
  {
    table: 'trial_credits',
    columns: ['device_digest', 'mailbox_digest', 'network_digest', 'tax_id_digest'],
    why: 'digests of what is not stored',
  },
  {
    table: 'usage_events',
    columns: ['session_id'],
    when: ({ outcome }) => outcome === 'released',
    why: 'a release is in no session; seals leave out ids of sessions, which are erased',
  },
  { table: 'usage_sessions', columns: ['model_ids'], why: 'shown' },
]
