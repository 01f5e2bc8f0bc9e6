/** The tables as Kysely sees them; the migrations have the comments on their columns. */
import type { ModelInfo } from '@pydantic/genai-prices'
import type { ColumnType, Generated } from 'kysely'

type DefaultedTime = ColumnType<Date, Date | undefined, Date>
type Json<T> = ColumnType<T, string, string>

/** An entry of `price_changes.schedule`: a stored price, and when it applies (`catalog/price-schedule.ts`). */
export interface StoredPriceSchedule {
  readonly price_id: number
  readonly starts_at?: string
  readonly window?: {
    readonly fromSecond: number
    readonly untilSecond: number
    readonly weekdays?: { readonly days: readonly number[]; readonly utcOffsetHours: number }
  }
}

/** An entry of `upstream_models.models`: a name, and the limits and the end that the upstream tells (`catalog/upstream-lists.ts`). */
export interface StoredListedModel {
  readonly name: string
  readonly contextTokens?: number
  readonly outputTokensMax?: number
  readonly endsOn?: string
}

/** The models of `price_data` by provider, as the makers of the price data write them. */
export type StoredModelPrices = readonly {
  readonly id: string
  readonly models: readonly ModelInfo[]
}[]

/** An entry of the price data, and its provider there. */
export interface StoredPriceEntry {
  readonly provider: string
  readonly model: ModelInfo
}

/** The type of `public_bills.proofs`, by the ids of the charges. Hashes are in hexadecimal. */
export type StoredProofs = Readonly<
  Record<
    string,
    {
      readonly seal: number
      readonly path: readonly { readonly side: 'left' | 'right'; readonly hash: string }[]
      /** The chain at the end of the charge's day, when this proof was made. */
      readonly head: string
    }
  >
>

export interface Tables {
  installation: {
    mode: 'sandbox' | 'live'
    created_at: DefaultedTime
    cell: string | null
  }
  public_bills: {
    id: string
    token: string
    customer_id: string
    usage_event_id: string | null
    session_id: string | null
    proofs: ColumnType<StoredProofs | null, string | undefined, string>
    created_at: DefaultedTime
  }
  trial_credits: {
    customer_id: string
    amount_nano_brl: bigint
    tax_id_digest: Buffer
    mailbox_digest: Buffer
    device_digest: Buffer | null
    network_digest: Buffer
    granted_at: DefaultedTime
  }
  customers: {
    id: string
    name: string
    email: string | null
    timezone: Generated<string>
    preferred_locale: Generated<string>
    weekly_digest_enabled: Generated<boolean>
    low_balance_email_enabled: Generated<boolean>
    incident_email_enabled: Generated<boolean>
    stored_responses_days: ColumnType<number | null, number | null | undefined, number | null>
    deleted_at: ColumnType<Date | null, never, Date>
    erased_at: ColumnType<Date | null, never, Date>
    suspended_at: ColumnType<Date | null, never, Date | null>
    suspended_reason: ColumnType<'chargeback' | 'operator' | null, never, string | null>
    suspended_text: ColumnType<string | null, never, string | null>
    referral_code: ColumnType<string | null, never, string | null>
    accepted_terms: ColumnType<string | null, never, string>
    shield_action: Generated<'off' | 'mask' | 'block'>
    anomaly_factor: ColumnType<number | null, number | null | undefined, number | null>
    anomaly_floor_nano_brl: Generated<bigint>
    shield_uuids: Generated<'near_pix' | 'always'>
    created_at: DefaultedTime
  }
  customer_notes: {
    id: string
    customer_id: string
    written_by: string
    note: string
    created_at: DefaultedTime
  }
  shield_counts: {
    customer_id: string
    api_key_id: string
    day: string
    action: 'mask' | 'block'
    kind: string
    occurrences: bigint
  }
  profiles: ProfilesTable
  referrals: {
    customer_id: string
    referrer_id: string
    created_at: DefaultedTime
    rewarded_at: Date | null
    reward_nano_brl: bigint | null
    taken_back_nano_brl: Generated<bigint>
    rewarded_tax_id_digest: ColumnType<Buffer | null, Buffer | null | undefined, Buffer | null>
    closed_at: ColumnType<Date | null, Date | null | undefined, Date | null>
    closed_reason: ColumnType<string | null, string | null | undefined, string | null>
  }
  digest_keys: {
    id: string
    purpose: string
    secret_sealed: Buffer
    created_at: DefaultedTime
  }
  notifications: {
    id: string
    customer_id: string
    template: string
    status: 'sent' | 'failed'
    error: string | null
    sent_at: DefaultedTime
  }
  mails: {
    id: string
    /** Null for a recipient who is not a customer. */
    customer_id: string | null
    email: string | null
    template: string
    data: Json<Readonly<Record<string, unknown>>>
    tries: Generated<number>
    due_at: DefaultedTime
    created_at: DefaultedTime
  }
  sandbox_mails: {
    id: string
    customer_id: string | null
    email: string
    subject: string
    list_unsubscribe: string | null
    text: string
    html: string
    created_at: DefaultedTime
  }
  audit_log: AuditLogTable
  sign_in_users: {
    id: string
    email: string
    is_verified: Generated<boolean>
    name: string
    image: Generated<null>
    referral_code: string | null
    accepted_terms: Generated<string | null>
    created_at: DefaultedTime
    updated_at: DefaultedTime
  }
  sign_in_sessions: {
    id: string
    user_id: string
    token: string
    expires_at: Date
    ip: string | null
    user_agent: string | null
    awaits_factor: Generated<boolean>
    proved_at: DefaultedTime
    factor_at: ColumnType<Date | null, Date | undefined, Date | null>
    created_at: DefaultedTime
    updated_at: DefaultedTime
  }
  sign_in_second_factors: {
    id: string
    user_id: string
    secret_sealed: Buffer
    enabled_at: Date | null
    last_step: Generated<bigint>
    created_at: DefaultedTime
    reset_requested_by: Generated<string | null>
    reset_requested_at: Generated<Date | null>
    reset_reason: Generated<string | null>
  }
  sign_in_backup_codes: {
    user_id: string
    code_hash: Buffer
  }
  sign_in_passkeys: {
    id: string
    user_id: string
    name: string
    public_key: string
    credential_id: string
    counter: number
    device_type: string
    is_backed_up: boolean
    transports: string | null
    aaguid: string | null
    created_at: DefaultedTime
  }
  sign_in_accounts: {
    id: string
    user_id: string
    provider_id: string
    provider_account: string
    password: string | null
    created_at: DefaultedTime
    updated_at: DefaultedTime
  }
  sign_in_verifications: {
    id: string
    identifier: string
    value: string
    expires_at: Date
    created_at: DefaultedTime
    updated_at: DefaultedTime
  }
  sign_in_attempts: {
    key_hash: Buffer
    tries: number
    ends_at: Date
  }
  external_users: {
    external_id_hash: Buffer
    customer_id: ColumnType<string | null, string | null | undefined, string>
    changed_at: ColumnType<Date | null, Date | undefined, Date>
    deleted_at: ColumnType<Date | null, Date | undefined, never>
  }
  auth_events: {
    id: string
    type: string | null
    outcome: ColumnType<string | null, never, string>
    received_at: DefaultedTime
  }
  payer_removals: {
    customer_id: string
    processor: string
    tries: Generated<number>
    due_at: DefaultedTime
  }
  processor_customers: {
    customer_id: string
    processor: string
    processor_customer_id: string
  }
  top_ups: TopUpsTable
  refunds: RefundsTable
  refund_parts: RefundPartsTable
  payment_methods: PaymentMethodsTable
  card_attempts: { id: string; customer_id: string; created_at: DefaultedTime }
  automatic_top_ups: AutomaticTopUpsTable
  processor_events: {
    processor: string
    event_id: string
    type: string
    processor_payment_id: string | null
    reference: string | null
    received_at: DefaultedTime
    handled_at: ColumnType<Date | null, never, Date>
    outcome: ColumnType<string | null, never, string>
    due_at: DefaultedTime
    tries: Generated<number>
  }
  events: {
    id: string
    customer_id: string
    type: string
    data: Json<Readonly<Record<string, unknown>>>
    created_at: DefaultedTime
    dispatched_at: ColumnType<Date | null, never, Date>
    tries: Generated<number>
    due_at: DefaultedTime
  }
  alerts: AlertsTable
  balance_watches: {
    customer_id: string
    level: Generated<'ok' | 'low' | 'critical'>
    seen_nano_brl: Generated<bigint>
    looked_at: DefaultedTime
    warned_at: ColumnType<Date | null, never, Date>
  }
  webhook_endpoints: WebhookEndpointsTable
  webhook_attempts: WebhookAttemptsTable
  usage_destinations: UsageDestinationsTable
  teams: {
    id: string
    customer_id: string
    name: string
    created_at: DefaultedTime
    deleted_at: ColumnType<Date | null, never, Date>
  }
  team_members: {
    team_id: string
    customer_id: string
    role: TeamRole
    joined_at: DefaultedTime
  }
  team_invitations: TeamInvitationsTable
  team_budgets: {
    team_id: string
    timezone: string
    limit_nano_brl: bigint | null
    period_started_at: DefaultedTime
    spent_nano_brl: Generated<bigint>
    spent_since: DefaultedTime
    spent_before_nano_brl: Generated<bigint>
    held_nano_brl: Generated<bigint>
    overdrawn_nano_brl: Generated<bigint>
  }
  prompts: PromptsTable
  prompt_versions: {
    prompt_id: string
    version: number
    body: string
    change_note: string | null
    created_at: DefaultedTime
  }
  adjustments: AdjustmentsTable
  markup_changes: MarkupChangesTable
  accepted_paces: {
    api_key_id: string
    kind: 'key' | 'session'
    pace_nano_brl: bigint
    paused_at: DefaultedTime
  }
  service_pause: { only_row: Generated<boolean>; reason: string; paused_at: DefaultedTime }
  disabled_models: { model_id: string; reason: string; disabled_at: DefaultedTime }
  upstream_models: {
    upstream_id: string
    models: Json<readonly StoredListedModel[]>
    read_at: Date
  }
  added_models: {
    model_id: string
    entry: Json<unknown>
    base: ColumnType<readonly StoredPriceSchedule[] | null, string | null, string | null>
    created_at: DefaultedTime
  }
  upstreams: {
    id: string
    upstream_id: string
    kind: string
    base_url: string | null
    key_sealed: Buffer | null
    key_end: string | null
    state: Generated<'active' | 'draining' | 'paused' | 'deleted'>
    created_at: DefaultedTime
  }
  accounts: {
    customer_id: string
    credited_nano_brl: Generated<bigint>
    debited_nano_brl: Generated<bigint>
    charged_nano_brl: Generated<bigint>
    held_nano_brl: Generated<bigint>
    usage_days_until: DefaultedTime
    promotional_nano_brl: Generated<bigint>
    promotional_at_charged_nano_brl: Generated<bigint>
  }
  ledger_entries: {
    id: string
    customer_id: string
    kind: 'credit' | 'debit'
    reason: string
    amount_nano_brl: bigint
    reference: string
    note: string | null
    created_at: DefaultedTime
    promotional_nano_brl: Generated<bigint>
    paid_charges_nano_brl: Generated<bigint>
  }
  api_keys: {
    scope: 'calls' | 'account' | 'manage' | 'operator'
    id: string
    customer_id: string
    name: string
    secret_hash: Buffer
    last_four: string
    model_ids: string[] | null
    ip_allowlist: string[] | null
    requests_per_minute: number
    tokens_per_minute: bigint | null
    version: Generated<number>
    /** Maintained by a trigger on the budgets. */
    has_budget: ColumnType<boolean, never, never>
    /** Maintained by a trigger on the caps. */
    has_caps: ColumnType<boolean, never, never>
    task_limit_nano_brl: ColumnType<bigint | null, bigint | null | undefined, bigint | null>
    calls_at_once: ColumnType<number | null, number | null | undefined, number | null>
    cache_seconds: ColumnType<number | null, number | null | undefined, number | null>
    auto_cache: ColumnType<boolean, boolean | undefined, boolean>
    paused_at: ColumnType<Date | null, never, never>
    paused_reason: ColumnType<PauseReason | null, never, never>
    paused_before: ColumnType<PauseReason | null, never, never>
    expires_at: Date | null
    revoked_at: Date | null
    team_id: ColumnType<string | null, string | null | undefined, never>
    created_by: ColumnType<string | null, string | null | undefined, never>
    shield_action: ColumnType<
      'off' | 'mask' | 'block' | null,
      string | null | undefined,
      string | null
    >
    shield_uuids: ColumnType<'near_pix' | 'always' | null, string | null | undefined, string | null>
    created_at: DefaultedTime
  }
  api_key_uses: { api_key_id: string; last_used_at: Date }
  key_caps: {
    api_key_id: string
    period: CapPeriod
    timezone: string
    limit_nano_brl: bigint
    period_started_at: DefaultedTime
    spent_nano_brl: Generated<bigint>
    spent_since: DefaultedTime
    counted_since: DefaultedTime
    spent_before_nano_brl: Generated<bigint>
    held_nano_brl: Generated<bigint>
    overdrawn_nano_brl: Generated<bigint>
  }
  task_spends: {
    api_key_id: string
    session_id: string
    customer_id: string
    limit_nano_brl: bigint
    spent_nano_brl: Generated<bigint>
    held_nano_brl: Generated<bigint>
    spent_since: DefaultedTime
    last_held_at: DefaultedTime
    overdrawn_nano_brl: Generated<bigint>
  }
  api_key_budgets: {
    api_key_id: string
    period: BudgetPeriod
    timezone: string
    limit_pico_usd: bigint
    period_started_at: DefaultedTime
    spent_pico_usd: Generated<bigint>
    spent_since: DefaultedTime
    counted_since: DefaultedTime
    spent_before_pico_usd: Generated<bigint>
    held_pico_usd: Generated<bigint>
    overdrawn_pico_usd: Generated<bigint>
  }
  prices: {
    id: Generated<number>
    digest: string
    model_id: string
    tiers: Json<unknown>
    units: ColumnType<unknown, string | null, never>
    share_of: ColumnType<number | null, number | null | undefined, never>
    created_at: DefaultedTime
  }
  price_changes: {
    id: Generated<number>
    model_id: string
    starts_at: Date
    schedule: Json<readonly StoredPriceSchedule[]>
    note: string | null
    created_at: DefaultedTime
    withdrawn_at: Generated<Date | null>
    notice_percent_e2: number | null
    noticed_through: Generated<string | null>
    noticed_at: Generated<Date | null>
  }
  price_differences: {
    model_id: string
    difference: string
    found_at: DefaultedTime
    kind: 'new' | 'cheaper' | 'dearer' | 'unreadable' | 'disputed'
    schedule: ColumnType<readonly StoredPriceSchedule[] | null, string | undefined, never>
    entry: ColumnType<StoredPriceEntry | null, string | undefined, never>
    rejected_at: Generated<Date | null>
  }
  price_data: {
    only_row: Generated<boolean>
    published: Json<StoredModelPrices>
    added: Json<StoredModelPrices>
    fetched_at: Date
    second_list: ColumnType<StoredModelPrices | null, string | undefined, string>
  }
  fx_rates: {
    id: Generated<number>
    rate_e4: number
    rate_date: string
    bulletin_at: Date | null
    source: string
    created_at: DefaultedTime
    withdrawn_at: Generated<Date | null>
    digest: Generated<Buffer>
  }
  reconciliation_runs: ReconciliationRunsTable
  reconciliation_discrepancies: ReconciliationDiscrepanciesTable
  upstream_costs: {
    upstream_id: string
    day: string
    model: string
    cost_pico_usd: bigint
    imported_at: DefaultedTime
  }
  upstream_cost_days: {
    upstream_id: string
    day: string
    ours_pico_usd: bigint
    theirs_pico_usd: bigint
    compared_at: DefaultedTime
  }
  nodes: {
    id: string
    started_at: DefaultedTime
    seen_at: DefaultedTime
    stopped_at: Date | null
    fenced_at: ColumnType<Date | null, never, never>
    functions_schema: string
    server_id: Generated<string | null>
    process_id: Generated<string | null>
    worker: Generated<number | null>
    version: Generated<string | null>
    build: Generated<string | null>
  }
  charge_corrections: {
    hold_id: string
    customer_id: string
    first_outcome: 'charged' | 'released'
    first_billed_nano_brl: bigint
    outcome: 'charged' | 'released'
    billed_nano_brl: bigint
    reversal_event_id: string | null
    event_id: string | null
    created_at: DefaultedTime
    paid_back_nano_brl: Generated<bigint>
  }
  account_debts: {
    id: Generated<bigint>
    customer_id: string
    amount_nano_brl: bigint
    cause: 'overrun' | 'correction' | 'debit' | 'repaid'
    hold_ids: string[] | null
    created_at: DefaultedTime
  }
  delivery_discrepancies: {
    hold_id: string
    node_id: string
    delivered_nano_brl: bigint
    stored_nano_brl: bigint | null
    found_at: DefaultedTime
    resolved_at: Date | null
  }
  holds: HoldsTable
  usage_events: UsageEventsTable
  usage_hours: UsageSums & { hour_at: Date }
  usage_days: UsageSums & { day_at: Date }
  usage_sessions: {
    customer_id: string
    session_id: string
    requests: bigint
    prompt_tokens: bigint
    completion_tokens: bigint
    cost_billed_nano_brl: bigint
    model_ids: string[]
    first_request_at: Date
    last_request_at: Date
  }
  usage_refusals: {
    customer_id: string
    hour_at: Date
    id: Generated<string>
    api_key_id: string | null
    model_id: string | null
    code: string
    status: number
    refusals: bigint
    first_at: Date
    last_at: Date
  }
  archived_months: {
    month: string
    run: string
    leased_until: Date
    started_at: DefaultedTime
    archived_at: Date | null
    removed_at: Date | null
  }
  archived_files: {
    month: string
    number: number
    name: string
    first_seal: bigint
    last_seal: bigint
    events: bigint
    bytes: bigint
    sha256: Buffer
    sums_hash: Buffer
    created_from: Date | null
    created_to: Date | null
  }
  archived_session_keys: {
    customer_id: string
    key: Buffer
  }
  cached_answers: {
    customer_id: string
    digest: Buffer
    sealed: Buffer
    created_at: DefaultedTime
    expires_at: Date
  }
  stored_responses: {
    id: string
    customer_id: string
    api_key_id: string
    previous_id: string | null
    is_failed: boolean
    input_bytes: number
    response_bytes: number
    input_sealed: Buffer
    response_sealed: Buffer
    created_at: DefaultedTime
    place: Generated<bigint>
    bytes_before: Generated<bigint>
  }
  batches: {
    id: string
    customer_id: string
    api_key_id: string
    endpoint: string
    input_file_id: string | null
    metadata: ColumnType<Readonly<Record<string, string>> | null, string | null, string | null>
    lines: number
    succeeded: Generated<number>
    errored: Generated<number>
    canceled: Generated<number>
    expired: Generated<number>
    bytes: Generated<bigint>
    created_at: DefaultedTime
    expires_at: Date
    due_at: DefaultedTime
    canceled_at: Date | null
    ended_at: Date | null
  }
  batch_lines: {
    id: string
    batch_id: string
    customer_id: string
    place: number
    input_sealed: Buffer | null
    due_at: DefaultedTime
    tries: Generated<number>
    hold_id: string | null
    result_sealed: Buffer | null
    result_bytes: number | null
    outcome: LineOutcome | null
  }
  files: {
    id: string
    customer_id: string
    api_key_id: string
    name: string
    bytes: bigint
    batch_id: string | null
    is_of_errors: Generated<boolean>
    created_at: DefaultedTime
    expires_at: Date
  }
  file_parts: {
    id: string
    file_id: string
    customer_id: string
    place: number
    sealed: Buffer
  }
  stored_response_sums: {
    customer_id: string
    responses: bigint
    bytes: bigint
  }
  idempotency_keys: {
    id: string
    customer_id: string
    api_key_id: string | null
    key_digest: Buffer
    content_sealed: Buffer
    is_answered: boolean
    running_until: Date | null
    created_at: DefaultedTime
  }
  videos: {
    id: string
    customer_id: string
    api_key_id: string
    model_id: string
    upstream_id: string
    upstream_job: string
    price_id: number
    unit: string
    seconds: number
    size: string | null
    status: Generated<'queued' | 'in_progress' | 'completed' | 'failed'>
    progress: Generated<number>
    error_code: string | null
    created_at: DefaultedTime
    completed_at: Date | null
    due_at: Date | null
    tries: Generated<number>
  }
  generated_images: {
    id: string
    customer_id: string
    media_type: string
    bytes: Buffer
    created_at: DefaultedTime
    expires_at: Date
  }
  rate_windows: { subject: string; window_at: Date; requests: bigint; tokens: bigint }
  upstream_health_hours: UpstreamHealthHoursTable
  model_speed_days: {
    model_id: string
    day: string
    until_at: Date
    first_byte_counts: string[]
    first_byte_customers: bigint
    pace_counts: string[]
    pace_customers: bigint
  }
  incidents: IncidentsTable
  incident_updates: IncidentUpdatesTable
  incident_mails: {
    id: string
    data: Json<Readonly<Record<string, unknown>>>
    after_customer_id: Generated<string>
  }
}

export type BudgetPeriod = 'day' | 'month' | 'lifetime'
export type CapPeriod = 'minute' | 'day'
export type LineOutcome = 'succeeded' | 'errored' | 'canceled' | 'expired'
export type PauseReason = 'anomaly' | 'leaked' | 'owner' | 'operator'
export type TeamRole = 'admin' | 'member'

interface UsageSums {
  customer_id: string
  api_key_id: string
  model_id: string
  charged_requests: bigint
  released_requests: bigint
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_upstream_pico_usd: bigint
  cost_billed_nano_brl: bigint
}

interface ProfilesTable {
  customer_id: string
  full_name: string
  tax_id: string
  phone: string | null
  postal_code: string | null
  street: string | null
  street_number: string | null
  complement: string | null
  district: string | null
  city: string | null
  state: string | null
  created_at: DefaultedTime
  updated_at: DefaultedTime
}

type TopUpStatus =
  | 'pending'
  | 'paid'
  | 'expired'
  | 'canceled'
  | 'failed'
  | 'refund_pending'
  | 'partially_refunded'
  | 'refunded'
  | 'chargeback'

interface TopUpsTable {
  id: string
  customer_id: string
  amount_nano_brl: bigint
  method: 'pix' | 'boleto' | 'card'
  status: ColumnType<TopUpStatus, never, TopUpStatus>
  processor: string
  processor_payment_id: ColumnType<string | null, never, string>
  pix_payload: ColumnType<string | null, never, string>
  pix_qr_code_base64: ColumnType<string | null, never, string>
  boleto_url: ColumnType<string | null, never, string>
  boleto_line: ColumnType<string | null, never, string>
  page_url: ColumnType<string | null, never, string | null>
  expires_at: ColumnType<Date | null, never, Date>
  created_at: DefaultedTime
  paid_at: ColumnType<Date | null, never, Date>
  returned_nano_brl: Generated<bigint>
  refunding_nano_brl: Generated<bigint>
  checked_at: DefaultedTime
  payment_method_id: ColumnType<string | null, string | null | undefined, never>
  card_brand: ColumnType<string | null, string | null | undefined, never>
  card_last_four: ColumnType<string | null, string | null | undefined, never>
  was_in_review: Generated<boolean>
  is_automatic: Generated<boolean>
}

interface PaymentMethodsTable {
  id: string
  customer_id: string
  processor: string
  token_sealed: Buffer
  brand: string | null
  last_four: string
  holder_name: string
  expiry_month: number
  expiry_year: number
  created_at: DefaultedTime
}

interface AutomaticTopUpsTable {
  customer_id: string
  is_enabled: boolean
  threshold_nano_brl: bigint
  amount_nano_brl: bigint
  payment_method_id: string | null
  monthly_limit_nano_brl: bigint | null
  remote_ip: string
  failures_in_row: Generated<number>
  disabled_reason: 'card_rejected' | 'payment_method_deleted' | null
  tried_at: DefaultedTime
  created_at: DefaultedTime
  updated_at: DefaultedTime
}

interface ReconciliationRunsTable {
  id: string
  processor: string
  from_day: string
  to_day: string
  started_at: DefaultedTime
  finished_at: ColumnType<Date | null, never, Date>
  failure: ColumnType<string | null, never, string>
  payments: Generated<number>
  top_ups: Generated<number>
  mended: Generated<number>
}

interface ReconciliationDiscrepanciesTable {
  id: string
  subject: string
  kind:
    | 'payment_without_top_up'
    | 'paid_there_only'
    | 'paid_here_only'
    | 'amount_differs'
    | 'returned_differs'
    | 'paid_twice'
    | 'upstream_cost'
  status: Generated<'open' | 'explained' | 'gone'>
  processor: string | null
  processor_payment_id: string | null
  top_up_id: string | null
  upstream_id: string | null
  day: string | null
  ours_nano_brl: bigint | null
  theirs_nano_brl: bigint | null
  ours_pico_usd: bigint | null
  theirs_pico_usd: bigint | null
  first_seen_at: DefaultedTime
  opened_at: DefaultedTime
  last_seen_at: DefaultedTime
  resolved_at: Date | null
  explanation: string | null
  explainer: 'operator' | 'admin' | null
  explained_at: Date | null
}

interface RefundsTable {
  id: string
  customer_id: string
  amount_nano_brl: bigint
  kind: 'withdrawal' | 'request'
  status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
  reason: string | null
  decision_note: ColumnType<string | null, never, string>
  created_at: DefaultedTime
  decided_at: Date | null
  ended_at: ColumnType<Date | null, never, unknown>
}

interface RefundPartsTable {
  refund_id: string
  top_up_id: string
  amount_nano_brl: bigint
  status: Generated<'waiting' | 'sent' | 'done' | 'failed' | 'taken'>
  is_manual: boolean
  error: ColumnType<string | null, never, string | null>
  tries: Generated<number>
  due_at: DefaultedTime
}

interface AlertsTable {
  id: string
  customer_id: string
  name: string
  kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
  threshold_nano: bigint
  api_key_id: string | null
  team_id: string | null
  channels: ('email' | 'webhook')[]
  is_enabled: Generated<boolean>
  state: Generated<'ok' | 'triggered'>
  fired_period: ColumnType<string | null, never, string | null>
  last_fired_at: ColumnType<Date | null, never, Date>
  last_value_nano: ColumnType<bigint | null, never, bigint>
  due_at: DefaultedTime
  created_at: DefaultedTime
  updated_at: DefaultedTime
}

interface WebhookEndpointsTable {
  id: string
  customer_id: string
  url: string
  description: string | null
  event_types: string[] | null
  secret_sealed: Buffer | null
  created_at: DefaultedTime
  disabled_at: Date | null
  disabled_reason: 'customer' | 'gone' | 'failing' | null
  failing_since: Date | null
  deleted_at: ColumnType<Date | null, never, Date>
}

interface UsageDestinationsTable {
  id: string
  customer_id: string
  kind: 'langfuse' | 'otlp'
  url: string
  secret_sealed: Buffer
  public_key: string | null
  header_names: string[]
  includes_content: boolean
  created_at: DefaultedTime
  disabled_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  disabled_reason: ColumnType<
    'customer' | 'failing' | null,
    'customer' | 'failing' | null | undefined,
    'customer' | 'failing' | null
  >
  sent_until: DefaultedTime
  sent_id: Generated<string>
  due_at: DefaultedTime
  tries: Generated<number>
  failures: Generated<number>
  failing_since: ColumnType<Date | null, never, Date | null>
  latency_ms: ColumnType<number | null, never, number | null>
  last_success_at: ColumnType<Date | null, never, Date | null>
  last_failed_at: ColumnType<Date | null, never, Date | null>
  last_error: ColumnType<string | null, never, string | null>
  last_http_status: ColumnType<number | null, never, number | null>
  last_answer: ColumnType<string | null, never, string | null>
  sent: Generated<bigint>
  rejected: Generated<bigint>
  given_up: Generated<bigint>
  test_asked_at: ColumnType<Date | null, never, Date | null>
  tested_at: ColumnType<Date | null, never, Date | null>
  test_error: ColumnType<string | null, never, string | null>
}

interface WebhookAttemptsTable {
  id: string
  endpoint_id: string
  customer_id: string
  message_id: string
  event_type: string
  body: string
  try_number: Generated<number>
  is_replay: Generated<boolean>
  first_failed_at: Date | null
  status: Generated<'queued' | 'running' | 'delivered' | 'failed'>
  due_at: DefaultedTime
  lease_id: ColumnType<string | null, never, string | null>
  leased_until: ColumnType<Date | null, never, Date | null>
  http_status: ColumnType<number | null, never, number>
  latency_ms: ColumnType<number | null, never, number>
  response_head: ColumnType<string | null, never, string>
  error: ColumnType<string | null, never, string>
  created_at: DefaultedTime
  finished_at: ColumnType<Date | null, never, Date>
}

interface AuditLogTable {
  id: string
  created_at: DefaultedTime
  actor_kind: 'customer' | 'operator' | 'system'
  actor_id: string | null
  api_key_id: string | null
  session_id: string | null
  ip: string | null
  action: string
  customer_id: string | null
  subject_id: string | null
  details: ColumnType<Readonly<Record<string, unknown>> | null, string | null, never>
}

interface AdjustmentsTable {
  id: string
  customer_id: string
  kind: 'credit' | 'debit' | 'promotional_credit'
  amount_nano_brl: bigint
  reason: string
  reference: string
  status: 'pending' | 'posted' | 'rejected'
  requested_by: string
  decided_by: string | null
  created_at: DefaultedTime
  decided_at: Date | null
}

interface MarkupChangesTable {
  id: string
  model_id: string
  markup_e4: number
  markup_before_e4: number
  starts_at: Date
  reason: string
  created_at: DefaultedTime
  canceled_at: ColumnType<Date | null, never, Date>
  noticed_through: ColumnType<string | null, never, string>
  noticed_at: ColumnType<Date | null, never, Date>
}

interface TeamInvitationsTable {
  id: string
  team_id: string
  email: string
  role: TeamRole
  token_hash: Buffer
  invited_by: string
  created_at: DefaultedTime
  expires_at: Date
  accepted_at: ColumnType<Date | null, never, Date>
  revoked_at: ColumnType<Date | null, never, Date>
}

interface PromptsTable {
  id: string
  customer_id: string
  slug: string
  name: string
  description: string | null
  variables: string[]
  tags: string[]
  default_model: string | null
  parameters: ColumnType<Readonly<Record<string, unknown>>, string | undefined, string>
  version: Generated<number>
  created_at: DefaultedTime
  updated_at: DefaultedTime
}

interface HoldsTable {
  id: string
  customer_id: string
  api_key_id: string
  team_id: string | null
  node_id: string
  request_id: string
  session_id: string | null
  model_id: string
  is_stream: boolean
  amount_nano_brl: bigint
  budget_pico_usd: bigint
  price_id: number
  fx_rate_id: number
  fx_rate_e4: number
  markup_e4: number
  prompt_tokens_estimated: number
  tokens_counted: bigint | null
  tokens_window_at: Date | null
  created_at: Date
  dispatched_at: Date | null
  output_began_at: Date | null
  output_tokens_seen: number
  /** A sum: 1 the minute's, 2 the day's, 4 the task's. */
  in_caps: Generated<number>
}

interface UsageEventsTable {
  id: string
  customer_id: string
  api_key_id: string
  team_id: string | null
  request_id: string
  session_id: string | null
  model_id: string
  upstream_id: string | null
  is_stream: boolean
  outcome: 'charged' | 'released'
  reason: string | null
  usage_kind: 'exact' | 'estimated' | 'none'
  prompt_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  completion_tokens: number
  reasoning_tokens: number
  held_nano_brl: bigint
  cost_upstream_pico_usd: bigint
  cost_billed_nano_brl: bigint
  price_id: number
  fx_rate_id: number
  fx_rate_e4: number
  markup_e4: number
  first_byte_ms: number | null
  duration_ms: number | null
  units: Readonly<Record<string, number>> | null
  attempts: readonly object[] | null
  created_at: Date
  settled_at: Date
  corrects_id: ColumnType<string | null, never, never>
  in_budget: ColumnType<boolean, never, never>
  in_cap: ColumnType<boolean, never, never>
  in_caps: Generated<number>
  held_price_id: ColumnType<number | null, never, never>
}

interface UpstreamHealthHoursTable {
  hour_at: Date
  upstream_id: string
  vendor: string
  ok_count: bigint
  failed_count: bigint
  latency_counts: string[]
}

export type IncidentSource = 'operator' | 'breaker'
export type IncidentSeverity = 'minor' | 'major' | 'critical'

interface IncidentsTable {
  id: string
  source: IncidentSource
  subject: string | null
  severity: IncidentSeverity
  title: string
  message: string
  vendors: string[]
  model_ids: string[]
  opened_at: DefaultedTime
  updated_at: DefaultedTime
  resolved_at: Date | null
  seen_at: Date | null
  node_id: string | null
  is_mailed: Generated<boolean>
}

interface IncidentUpdatesTable {
  id: string
  incident_id: string
  status: 'opened' | 'updated' | 'resolved'
  severity: IncidentSeverity
  message: string | null
  created_at: DefaultedTime
}
