/**
 * Log events that alert rules ask for. They are counted from zero: a counter that first appears with its first event
 * shows no increase, so the first event would raise no alert.
 */
export const ALARM_EVENTS = {
  error: [
    'answer_not_delivered',
    'card_testing_suspected',
    'charge_corrected',
    'charge_without_hold',
    'disk_full',
    'final_outcome_superseded',
    'hold_failed',
    'impossible_usage_reported',
    'mail_not_sent',
    'model_call_failed',
    'node_fenced',
    'payment_not_found',
    'payments_comparison_unfinished',
    'refund_failed',
    'refund_waits_for_processor_balance',
    'request_failed',
    'resolution_refused',
    'spool_append_failed',
    'spool_file_gone',
    'spooled_resolution_refused',
    'top_up_amount_differs',
    'uncaught',
    'usage_months_short',
  ],
  warn: ['silent_node_fenced', 'usage_months_not_made', 'worker_failed'],
} as const
