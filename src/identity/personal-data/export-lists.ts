/**
 * The lists of an export by their public names, each newest first. Column names become field names; an amount in
 * nano-BRL is exported in BRL, an amount in pico-USD in USD.
 */
import { sql, type RawBuilder } from 'kysely'

export interface ExportBounds {
  /** Per list. */
  readonly entriesMax: number
  /** For the texts of all prompt versions together. */
  readonly promptTextBytesMax: number
}

export interface ExportList {
  /** Selects all entries. */
  readonly entries: (customerId: string) => RawBuilder<unknown>
  /** Selects the sorted entries that fit the bound; without it, all are taken. */
  readonly take?: (bytesMax: number) => RawBuilder<unknown>
}

export const EXPORT_LISTS = {
  notifications: {
    entries: (id) => sql`
      select id, template, sent_at, status, error from notifications
      where customer_id = ${id} order by sent_at desc, id desc`,
  },
  // The data of a mail to another person are for that reader alone, such as the token of an invitation.
  mails_waiting: {
    entries: (id) => sql`
      select id, template, email, case when email is null then data end as data, created_at from mails
      where customer_id = ${id} order by created_at desc, id desc`,
  },
  topups: {
    entries: (id) => sql`
      select id, amount_nano_brl, method, status, payment_method_id, card_brand, card_last_four, is_automatic, created_at, paid_at, returned_nano_brl
      from top_ups where customer_id = ${id} order by created_at desc, id desc`,
  },
  refunds: {
    entries: (id) => sql`
      select id, amount_nano_brl, kind, status, reason, decision_note, created_at, ended_at
      from refunds where customer_id = ${id} order by created_at desc, id desc`,
  },
  // We have no more data about a card, except the processor's token, which is not the customer's data.
  payment_methods: {
    entries: (id) => sql`
      select id, brand, last_four, holder_name, expiry_month, expiry_year, created_at
      from payment_methods where customer_id = ${id} order by created_at desc, id desc`,
  },
  automatic_topups: {
    entries: (id) => sql`
      select is_enabled, threshold_nano_brl, amount_nano_brl, payment_method_id, monthly_limit_nano_brl,
        remote_ip, failures_in_row, disabled_reason, created_at, updated_at
      from automatic_top_ups where customer_id = ${id}`,
  },
  events: {
    entries: (id) => sql`
      select id, type, data, created_at from events
      where customer_id = ${id} order by created_at desc, id desc`,
  },
  // The customer's own keys, keys that others made for the customer's teams, and keys made for other customers' teams.
  api_keys: {
    entries: (id) => sql`
      select k.id, k.name, k.last_four, k.team_id, k.model_ids, k.ip_allowlist, k.requests_per_minute,
        k.tokens_per_minute, k.shield_action, k.shield_uuids, b.period as budget_period, b.limit_pico_usd as budget_limit_pico_usd,
        (select limit_nano_brl from key_caps where api_key_id = k.id and period = 'minute') as minute_cap_nano_brl,
        (select limit_nano_brl from key_caps where api_key_id = k.id and period = 'day') as day_cap_nano_brl,
        k.task_limit_nano_brl as task_cap_nano_brl, k.calls_at_once, k.cache_seconds, k.auto_cache,
        k.created_at, u.last_used_at, k.expires_at, k.revoked_at
      from api_keys k
      left join api_key_budgets b on b.api_key_id = k.id
      left join api_key_uses u on u.api_key_id = k.id
      where k.customer_id = ${id} or k.created_by = ${id} order by k.created_at desc, k.id desc`,
  },
  shield_counts: {
    entries: (id) => sql`
      select day::text, api_key_id, action, kind, occurrences from shield_counts
      where customer_id = ${id} order by day desc, api_key_id, action, kind`,
  },
  usage_refusals: {
    entries: (id) => sql`
      select hour_at, api_key_id, model_id, code, status, refusals, first_at, last_at from usage_refusals
      where customer_id = ${id} order by hour_at desc, id desc`,
  },
  prompts: {
    entries: (id) => sql`
      select id, slug, name, description, variables, tags, default_model, parameters, version, created_at, updated_at
      from prompts where customer_id = ${id} order by updated_at desc, id desc`,
  },
  prompt_versions: {
    entries: (id) => sql`
      select v.prompt_id, v.version, v.body, v.change_note, v.created_at
      from prompts p join prompt_versions v on v.prompt_id = p.id
      where p.customer_id = ${id} order by v.created_at desc, v.prompt_id desc, v.version desc`,
    take: (bytesMax) => sql`
      select prompt_id, version, body, change_note, created_at from (
        select *, sum(octet_length(body)) over (order by created_at desc, prompt_id desc, version desc) as bytes
        from entries) sized
      where bytes <= ${bytesMax} order by created_at desc, prompt_id desc, version desc`,
  },
  sessions: {
    entries: (id) => sql`
      select session_id, requests, prompt_tokens, completion_tokens, cost_billed_nano_brl, model_ids,
        first_request_at, last_request_at
      from usage_sessions where customer_id = ${id} order by last_request_at desc, session_id desc`,
  },
  // UTC months, because the roll-ups are by UTC day. Days that are not rolled up yet are read from the hours.
  usage_by_month: {
    entries: (id) => sql`
      select to_char(at at time zone 'UTC', 'YYYY-MM') as month, model_id,
        sum(charged_requests)::int8 as requests, sum(prompt_tokens)::int8 as prompt_tokens,
        sum(completion_tokens)::int8 as completion_tokens,
        sum(cost_upstream_pico_usd)::int8 as cost_upstream_pico_usd,
        sum(cost_billed_nano_brl)::int8 as cost_billed_nano_brl
      from (
        select d.day_at as at, model_id, charged_requests, prompt_tokens, completion_tokens,
          cost_upstream_pico_usd, cost_billed_nano_brl
        from usage_days d where d.customer_id = ${id}
        union all
        select h.hour_at, model_id, charged_requests, prompt_tokens, completion_tokens,
          cost_upstream_pico_usd, cost_billed_nano_brl
        from usage_hours h where h.customer_id = ${id}
          and h.hour_at >= (select usage_days_until from accounts where customer_id = ${id})
      ) used
      group by 1, 2 having sum(charged_requests) > 0 order by 1 desc, 2`,
  },
  ledger_entries: {
    entries: (id) => sql`
      select id, kind, reason, amount_nano_brl, reference, note, created_at
      from ledger_entries where customer_id = ${id} order by created_at desc, id desc`,
  },
  teams_owned: {
    entries: (id) => sql`
      select t.id, t.name, b.limit_nano_brl, t.created_at, t.deleted_at
      from teams t left join team_budgets b on b.team_id = t.id
      where t.customer_id = ${id} order by t.created_at desc, t.id desc`,
  },
  team_memberships: {
    entries: (id) => sql`
      select m.team_id, t.name as team_name, m.role, m.joined_at
      from team_members m join teams t on t.id = m.team_id
      where m.customer_id = ${id} order by m.joined_at desc, m.team_id desc`,
  },
  invitations_sent: {
    entries: (id) => sql`
      select id, team_id, email, role, created_at, expires_at, accepted_at, revoked_at
      from team_invitations where invited_by = ${id} order by created_at desc, id desc`,
  },
  invitations_received: {
    entries: (id) => sql`
      select i.id, i.team_id, t.name as team_name, i.role, i.created_at, i.expires_at, i.accepted_at, i.revoked_at
      from team_invitations i join teams t on t.id = i.team_id
      where i.email = (select lower(email) from customers where id = ${id})
      order by i.created_at desc, i.id desc`,
  },
  // The identity of the other customer is not exported.
  referrals: {
    entries: (id) => sql`
      select case when referrer_id = ${id} then 'referrer' else 'referred' end as part,
        created_at as registered_at, rewarded_at, reward_nano_brl, taken_back_nano_brl
      from referrals where referrer_id = ${id} or customer_id = ${id}
      order by created_at desc, customer_id desc`,
  },
  // Acts by the customer and acts on the account; the IP address of another actor is left out.
  activities: {
    entries: (id) => sql`
      select id, created_at, action, actor_kind, case when actor_id = ${id} then api_key_id end as api_key_id,
        case when actor_id = ${id} then session_id end as session_id,
        case when actor_id = ${id} then ip end as ip, subject_id, details
      from audit_log where actor_id = ${id} or customer_id = ${id} order by created_at desc, id desc`,
  },
  // What operators wrote about the customer is personal data, too. Who wrote it is another person.
  operator_notes: {
    entries: (id) => sql`
      select id, note, created_at from customer_notes
      where customer_id = ${id} order by created_at desc, id desc`,
  },
  // The user who verified the customer's e-mail acts for the customer. Of a password and a second factor, only their existence is exported.
  sign_in_users: {
    entries: (id) => sql`
      select u.id, u.email, u.is_verified, u.name,
        exists (select 1 from sign_in_accounts a where a.user_id = u.id and a.password is not null) as has_password,
        (select f.enabled_at from sign_in_second_factors f where f.user_id = u.id) as second_factor_enabled_at,
        u.created_at
      from sign_in_users u join customers c on lower(c.email) = u.email where c.id = ${id}`,
  },
  sign_in_sessions: {
    entries: (id) => sql`
      select s.id, s.ip, s.user_agent, s.created_at, s.expires_at
      from sign_in_sessions s join sign_in_users u on u.id = s.user_id
      join customers c on lower(c.email) = u.email where c.id = ${id} order by s.created_at desc, s.id desc`,
  },
  sign_in_passkeys: {
    entries: (id) => sql`
      select p.id, p.name, p.device_type, p.is_backed_up, p.created_at
      from sign_in_passkeys p join sign_in_users u on u.id = p.user_id
      join customers c on lower(c.email) = u.email where c.id = ${id} order by p.created_at desc, p.id desc`,
  },
  // But the password (`credential`). No tokens are stored; the account's id at the provider identifies it there alone.
  sign_in_providers: {
    entries: (id) => sql`
      select a.provider_id as provider, a.created_at
      from sign_in_accounts a join sign_in_users u on u.id = a.user_id
      join customers c on lower(c.email) = u.email
      where c.id = ${id} and a.provider_id <> 'credential'
      order by a.created_at desc, a.id desc`,
  },
  // The kind decides whether a threshold is an amount in BRL, a number of days or a percentage.
  alerts: {
    entries: (id) => sql`
      select id, name, kind, trim_scale(threshold_nano::numeric / 1000000000)::float8 as threshold, api_key_id, team_id,
        channels, is_enabled, state, last_fired_at,
        trim_scale(last_value_nano::numeric / 1000000000)::float8 as last_value, created_at, updated_at
      from alerts where customer_id = ${id} order by created_at desc, id desc`,
  },
  public_bills: {
    entries: (id) => sql`
      select id, token, usage_event_id, session_id, created_at
      from public_bills where customer_id = ${id} order by created_at desc, id desc`,
  },
  webhooks: {
    entries: (id) => sql`
      select id, url, description, event_types, created_at, disabled_at, disabled_reason, failing_since, deleted_at
      from webhook_endpoints where customer_id = ${id} order by created_at desc, id desc`,
  },
  // The content of the messages is in the events.
  webhook_attempts: {
    entries: (id) => sql`
      select id as delivery_id, endpoint_id as webhook_id, message_id, event_type, try_number, is_replay, status,
        http_status, latency_ms, response_head, error, created_at, finished_at
      from webhook_attempts where customer_id = ${id} order by created_at desc, id desc`,
  },
  // Their secrets are sealed, and never shown.
  usage_destinations: {
    entries: (id) => sql`
      select id, kind, url, public_key, header_names, includes_content, created_at, disabled_at, disabled_reason,
        last_success_at, last_failed_at, last_error, last_answer
      from usage_destinations where customer_id = ${id} order by created_at desc, id desc`,
  },
  // The contents are sealed: GET /v1/responses/{id} and its input_items return them.
  stored_responses: {
    entries: (id) => sql`
      select 'resp_' || replace(id::text, '-', '') as id, api_key_id,
        'resp_' || replace(previous_id::text, '-', '') as previous_response_id,
        input_bytes + response_bytes as byte_count, created_at
      from stored_responses where customer_id = ${id} order by created_at desc, id desc`,
  },
  // The contents are sealed: GET /v1/files/{id}/content and the results of the batches return them.
  files: {
    entries: (id) => sql`
      select 'file-' || replace(id::text, '-', '') as id, api_key_id, name, bytes as byte_count, created_at, expires_at
      from files where customer_id = ${id} order by created_at desc, id desc`,
  },
  batches: {
    entries: (id) => sql`
      select case when input_file_id is null then 'msgbatch_' else 'batch_' end || replace(id::text, '-', '') as id,
        api_key_id, endpoint, metadata, lines, succeeded, errored, canceled, expired, created_at, canceled_at, ended_at
      from batches where customer_id = ${id} order by created_at desc, id desc`,
  },
  // Neither the prompts nor the files are stored.
  videos: {
    entries: (id) => sql`
      select 'video_' || replace(id::text, '-', '') as id, api_key_id, model_id, seconds, size, status, error_code,
        created_at, completed_at
      from videos where customer_id = ${id} order by created_at desc, id desc`,
  },
  // Without ids, which are the addresses: pictures of a team's keys are their members', not the owner's.
  images_waiting: {
    entries: (id) => sql`
      select media_type, octet_length(bytes) as byte_count, created_at, expires_at
      from generated_images where customer_id = ${id} and expires_at > now()
      order by created_at desc, id desc`,
  },
} satisfies Record<string, ExportList>

export type ExportListName = keyof typeof EXPORT_LISTS

/** Returns the queries for the newest entries within the bounds, and for the count of all entries. */
export function selectList(name: ExportListName, customerId: string, bounds: ExportBounds) {
  const list: ExportList = EXPORT_LISTS[name]
  const taken = list.take?.(bounds.promptTextBytesMax) ?? sql`select * from entries`
  return {
    entries: sql<Record<string, unknown>>`
      with entries as (${list.entries(customerId)} limit ${bounds.entriesMax}) ${taken}`,
    count: sql<{ count: bigint }>`
      select count(*) from (${list.entries(customerId)}) entries`,
  }
}
