/** The copy of a customer's data, as `src/personal-data/export-lists.ts` fills it. */
import Type from 'typebox'
import { answer, brl, count, dateTime, nullable, usd, uuid } from './values.ts'

const text = nullable(Type.String())
const time = nullable(dateTime)

const account = answer({
  id: uuid,
  name: Type.String(),
  email: text,
  referral_code: text,
  created_at: dateTime,
})

const profile = answer({
  full_name: text,
  cpf_cnpj: text,
  phone: text,
  postal_code: text,
  street: text,
  street_number: text,
  complement: text,
  district: text,
  city: text,
  state: text,
  created_at: time,
  updated_at: time,
})

const LISTS = {
  notifications: {
    id: uuid,
    template: Type.String(),
    sent_at: dateTime,
    status: Type.Enum(['sent', 'failed']),
    error: text,
  },
  mails_waiting: {
    id: uuid,
    template: Type.String(),
    email: text,
    data: nullable(Type.Record(Type.String(), Type.Unknown())),
    created_at: dateTime,
  },
  topups: {
    id: uuid,
    amount_brl: brl,
    method: Type.String(),
    status: Type.String(),
    created_at: dateTime,
    paid_at: time,
    returned_brl: brl,
  },
  events: {
    id: uuid,
    type: Type.String(),
    data: Type.Record(Type.String(), Type.Unknown()),
    created_at: dateTime,
  },
  api_keys: {
    id: uuid,
    name: Type.String(),
    last_four: Type.String(),
    team_id: nullable(uuid),
    model_ids: nullable(Type.Array(Type.String())),
    ip_allowlist: nullable(Type.Array(Type.String())),
    requests_per_minute: count,
    tokens_per_minute: nullable(count),
    budget_period: text,
    budget_limit_usd: nullable(usd),
    created_at: dateTime,
    last_used_at: time,
    expires_at: time,
    revoked_at: time,
  },
  prompts: {
    id: uuid,
    slug: Type.String(),
    name: Type.String(),
    description: text,
    variables: Type.Array(Type.String()),
    tags: Type.Array(Type.String()),
    default_model: text,
    version: count,
    created_at: dateTime,
    updated_at: dateTime,
  },
  prompt_versions: {
    prompt_id: uuid,
    version: count,
    body: Type.String(),
    change_note: text,
    created_at: dateTime,
  },
  sessions: {
    session_id: Type.String(),
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    cost_billed_brl: brl,
    model_ids: Type.Array(Type.String()),
    first_request_at: dateTime,
    last_request_at: dateTime,
  },
  usage_by_month: {
    month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }),
    model_id: Type.String(),
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    cost_upstream_usd: usd,
    cost_billed_brl: brl,
  },
  ledger_entries: {
    id: uuid,
    kind: Type.Enum(['credit', 'debit']),
    reason: Type.String(),
    amount_brl: brl,
    reference: Type.String(),
    note: text,
    created_at: dateTime,
  },
  teams_owned: {
    id: uuid,
    name: Type.String(),
    limit_brl: nullable(brl),
    created_at: dateTime,
    deleted_at: time,
  },
  team_memberships: {
    team_id: uuid,
    team_name: Type.String(),
    role: Type.Enum(['admin', 'member']),
    joined_at: dateTime,
  },
  invitations_sent: {
    id: uuid,
    team_id: uuid,
    email: Type.String(),
    role: Type.Enum(['admin', 'member']),
    created_at: dateTime,
    expires_at: dateTime,
    accepted_at: time,
    revoked_at: time,
  },
  invitations_received: {
    id: uuid,
    team_id: uuid,
    team_name: Type.String(),
    role: Type.Enum(['admin', 'member']),
    created_at: dateTime,
    expires_at: dateTime,
    accepted_at: time,
    revoked_at: time,
  },
  referrals: {
    part: Type.Enum(['referrer', 'referred']),
    registered_at: dateTime,
    rewarded_at: time,
    reward_brl: nullable(brl),
  },
  activities: {
    id: uuid,
    created_at: dateTime,
    action: Type.String(),
    actor_kind: Type.Enum(['customer', 'operator', 'system']),
    api_key_id: nullable(uuid),
    ip: text,
    subject_id: text,
    details: nullable(Type.Record(Type.String(), Type.Unknown())),
  },
  webhooks: {
    id: uuid,
    url: Type.String(),
    description: text,
    event_types: nullable(Type.Array(Type.String())),
    created_at: dateTime,
    disabled_at: time,
    disabled_reason: text,
    failing_since: time,
    deleted_at: time,
  },
  webhook_attempts: {
    delivery_id: uuid,
    webhook_id: uuid,
    message_id: uuid,
    event_type: Type.String(),
    try_number: count,
    is_replay: Type.Boolean(),
    status: Type.String(),
    http_status: nullable(Type.Integer()),
    latency_ms: nullable(count),
    response_head: text,
    error: text,
    created_at: dateTime,
    finished_at: time,
  },
  images_waiting: {
    id: Type.String(),
    media_type: Type.String(),
    byte_count: count,
    created_at: dateTime,
    expires_at: dateTime,
  },
} satisfies Record<string, Type.TProperties>

const lists: Type.TProperties = {}
const totals: Type.TProperties = {}
for (const [name, fields] of Object.entries(LISTS)) {
  lists[name] = Type.Array(answer(fields), { description: 'Os mais novos primeiro.' })
  totals[name] = count
}

export const accountExport = answer({
  export_version: Type.Integer(),
  generated_at: dateTime,
  account,
  profile,
  preferences: answer({
    timezone: Type.String(),
    preferred_locale: Type.String(),
    weekly_digest_enabled: Type.Boolean(),
  }),
  balance: answer({ balance_brl: brl, total_topped_up_brl: brl, total_spent_brl: brl }),
  ...lists,
  totals: answer(totals, {
    description: 'Quantos há de cada lista, que pode ter só os mais novos.',
  }),
  note: Type.String(),
})
