/** What each operation is called with. A parameter, a field or a body that has no entry here fails the test. */
import { APPROVED, cardBody } from '../../harness/cards.ts'
import type { Operation } from '../../harness/operations.ts'
import { MARK, TAX_ID, type Household, type Person } from './household.ts'

/** Public to anyone with the address; they show nothing of a customer. */
export const PUBLIC = [
  'GET /charge-chain',
  'GET /files/images/{id}',
  'GET /fx-rates',
  'GET /healthz',
  'GET /healthz/db',
  'GET /incidents/active',
  'GET /model-prices',
  'GET /model-speeds',
  'GET /models',
  'GET /models/{id}',
  'GET /public-bills/{token}',
  'GET /upstream-health',
  'POST /leaked-keys',
]
/** Sorted. Whoever is none of them is forbidden them all. */
export const ADMIN = [
  'DELETE /admin/customers/{id}/notes/{noteId}',
  'DELETE /admin/models/{id}',
  'DELETE /admin/models/{id}/markup/{changeId}',
  'DELETE /admin/upstreams/{id}',
  'GET /admin/adjustments',
  'GET /admin/audit-log',
  'GET /admin/audit-log/export.csv',
  'GET /admin/customers',
  'GET /admin/customers/{id}',
  'GET /admin/customers/{id}/notes',
  'GET /admin/health',
  'GET /admin/incidents',
  'GET /admin/mails/in-trouble',
  'GET /admin/margins',
  'GET /admin/models',
  'GET /admin/overview',
  'GET /admin/price-updates',
  'GET /admin/reconciliation',
  'GET /admin/refunds',
  'GET /admin/upstreams',
  'GET /admin/webhooks/in-trouble',
  'PATCH /admin/incidents/{id}',
  'PATCH /admin/upstreams/{id}',
  'POST /admin/adjustments',
  'POST /admin/adjustments/{id}/approve',
  'POST /admin/adjustments/{id}/reject',
  'POST /admin/api-keys/{id}/pause',
  'POST /admin/api-keys/{id}/resume',
  'POST /admin/customers/{id}/notes',
  'POST /admin/customers/{id}/reinstate',
  'POST /admin/customers/{id}/second-factor/reset',
  'POST /admin/customers/{id}/suspend',
  'POST /admin/fx-rates',
  'POST /admin/fx-rates/{id}/withdraw',
  'POST /admin/incidents',
  'POST /admin/markups',
  'POST /admin/models/{id}/disable',
  'POST /admin/models/{id}/enable',
  'POST /admin/models/{id}/markup',
  'POST /admin/price-updates/{id}/approve',
  'POST /admin/price-updates/{id}/reject',
  'POST /admin/reconciliation/differences/{id}/explain',
  'POST /admin/refunds/{id}/approve',
  'POST /admin/refunds/{id}/complete',
  'POST /admin/refunds/{id}/reject',
  'POST /admin/service/pause',
  'POST /admin/service/resume',
  'POST /admin/upstream-costs',
  'POST /admin/upstreams',
  'POST /admin/upstreams/{id}/test',
  'POST /admin/webhooks/{id}/enable',
  'PUT /admin/models/{id}',
]
/** What of it names the customer whose it is. */
export const SHOWS_CUSTOMER =
  /adjustments|audit-log|customers\/\{id\}(?!\/notes)|in-trouble|refunds|webhooks/

type IdOf = (household: Household) => string

/** By the path up to the parameter; where that is not enough, by the whole path of one parameter. */
const PARAMETERS: Readonly<Record<string, IdOf>> = {
  '/admin/adjustments/{id}': ({ ids }) => ids.adjustment,
  '/admin/adjustments/{id}/reject': ({ ids }) => ids.otherAdjustment,
  '/admin/api-keys/{id}': ({ ids }) => ids.key,
  '/admin/customers/{id}': ({ owner }) => owner.customerId,
  '/admin/customers/{id}/notes/{noteId}': ({ ids }) => ids.note,
  '/admin/fx-rates/{id}': () => '1',
  '/admin/incidents/{id}': ({ ids }) => ids.incident,
  '/admin/models/{id}': () => 'gpt-4o',
  '/admin/models/{id}/markup': () => 'gpt-5',
  '/admin/models/{id}/markup/{changeId}': ({ ids }) => ids.markupChange,
  '/admin/price-updates/{id}': () => 'gpt-4.1',
  '/admin/price-updates/{id}/reject': () => 'gpt-5',
  '/admin/refunds/{id}': ({ ids }) => ids.refund,
  '/admin/refunds/{id}/reject': ({ ids }) => ids.otherRefund,
  '/admin/upstreams/{id}': () => 'acrescentado',
  '/admin/webhooks/{id}': ({ ids }) => ids.webhook,
  '/admin/reconciliation/differences/{id}': ({ ids }) => ids.difference,
  '/api-keys/{id}': ({ ids }) => ids.key,
  '/batches/{id}': ({ ids }) => ids.batch,
  '/batches/{id}/cancel': ({ ids }) => ids.runningBatch,
  '/files/{id}': ({ ids }) => ids.file,
  '/files/images/{id}': ({ ids }) => ids.image,
  '/messages/batches/{id}': ({ ids }) => ids.messageBatch,
  '/messages/batches/{id}/cancel': ({ ids }) => ids.runningMessageBatch,
  '/me/alerts/{id}': ({ ids }) => ids.alert,
  '/me/invitations/{id}': ({ ids }) => ids.declinedInvitation,
  '/me/invitations/{id}/accept': ({ ids }) => ids.guestsInvitation,
  '/me/prompts/{id}': ({ ids }) => ids.prompt,
  '/me/public-bills/{id}': ({ ids }) => ids.publicBill,
  '/me/sessions/{id}': ({ ids }) => ids.session,
  '/me/teams/{id}': ({ ids }) => ids.team,
  '/me/teams/{id}/invitations/{invitationId}': ({ ids }) => ids.invitation,
  '/me/teams/{id}/keys/{keyId}': ({ ids }) => ids.teamKey,
  '/me/teams/{id}/members/{customerId}': ({ member }) => member.customerId,
  '/models/{id}': () => 'sandbox-chat',
  '/public-bills/{token}': ({ ids }) => ids.publicBillToken,
  '/responses/{id}': ({ ids }) => ids.response,
  '/videos/{id}': ({ ids }) => ids.video,
  '/usage/destinations/{id}': ({ ids }) => ids.destination,
  '/webhooks/{id}': ({ ids }) => ids.webhook,
  '/webhooks/attempts/{attemptId}': ({ ids }) => ids.attempt,
  '/topups/{id}': ({ ids }) => ids.paidTopUp,
  '/payment-methods/{id}': ({ ids }) => ids.card,
  '/me/refunds/{id}': ({ ids }) => ids.refund,
}

/** Fields of queries and bodies that are no way to a thing of a customer. */
const HARMLESS = new Set(
  [
    // Of queries.
    'limit days minutes month from to before by category status model_id code after_id before_id',
    // Of keys.
    'name scope model_ids ip_allowlist requests_per_minute tokens_per_minute budget expires_at all shield',
    // Of the shield of an account.
    'uuids',
    // Of the spending guard of an account.
    'factor floor_brl',
    'confirm key minute_cap_brl day_cap_brl task_cap_brl calls_at_once cache_seconds auto_cache',
    // Of prompts and their runs.
    'body description variables tags default_model parameters change_note values',
    // Of profiles and preferences.
    'full_name cpf_cnpj phone postal_code street street_number complement district city state',
    'timezone preferred_locale weekly_digest_enabled low_balance_email_enabled incident_email_enabled',
    'stored_responses_days',
    // Of top-ups.
    'amount method card holder threshold_brl amount_brl monthly_limit_brl',
    // Of refunds and what is decided of them.
    'reason note outcome rate rate_date upstream csv',
    // Of operators.
    'kind amount_brl reason reference markup_multiplier starts_at title message severity providers',
    'id base_url api_key state vendor',
    'action difference',
    // Of the reconciliation.
    'explanation',
    // Of webhooks.
    'url event_types is_enabled',
    // Of destinations of usage.
    'public_key secret_key headers includes_content',
    // Of alerts.
    'kind threshold channels',
    // Of teams: whoever has an e-mail can be invited by anybody.
    'email role monthly_cap_brl waive_balance',
    // Of model calls.
    'model models provider messages system max_tokens temperature stream tools response_format input dimensions',
    'instructions max_output_tokens store',
    // Of the items of a stored response.
    'order after',
    'encoding_format prompt n size quality partial_images file mask language',
    // Of files and batches.
    'purpose expires_after[anchor] expires_after[seconds] endpoint completion_window metadata requests',
    'query documents top_n return_documents max_tokens_per_doc voice speed stream_format seconds variant',
    // Of models that operators write.
    'display_name routes routing prices price_schedule context_tokens image_tokens_max hidden_prompt_tokens_max',
    'supports_tools can_reason embedding speech rerank moderation image audio video ends_on',
  ].flatMap((line) => line.split(' ')),
)

/** Fields of queries that select: by the owner's value a stranger gets an empty list. */
export const FILTERS: Readonly<Record<string, IdOf>> = {
  api_key_id: ({ ids }) => ids.key,
  session_id: ({ ids }) => ids.session,
  customer_id: ({ owner }) => owner.customerId,
  tag: () => MARK,
  q: () => MARK,
}

const ALERT = { name: 'Novo', kind: 'daily_spend', threshold: 10, channels: ['email'] }

/** Body fields that name a resource, with the answer to a stranger who sends the owner's id. */
export const NAMED: Readonly<
  Record<
    string,
    { body: (household: Household) => object; status: number; error: string | undefined }
  >
> = {
  'POST /api-keys/bulk-revoke ids': {
    body: ({ ids }) => ({ ids: [ids.key] }),
    // A foreign id is not counted.
    status: 200,
    error: undefined,
  },
  'POST /me/prompts/{id}/run api_key': {
    body: ({ secrets }) => ({ api_key: secrets.key }),
    status: 404,
    error: 'key_not_found',
  },
  // Of a session, where it is not found (`session-calls.test.ts`); a key does not name another.
  'POST /me/prompts/{id}/run api_key_id': {
    body: ({ ids }) => ({ api_key_id: ids.key }),
    status: 400,
    error: 'invalid_request',
  },
  'POST /me/refunds topup_id': {
    body: ({ ids }) => ({ topup_id: ids.topUp }),
    status: 404,
    error: 'topup_not_found',
  },
  'POST /me/alerts api_key_id': {
    body: ({ ids }) => ({ ...ALERT, api_key_id: ids.key }),
    status: 404,
    error: 'key_not_found',
  },
  'POST /me/alerts team_id': {
    body: ({ ids }) => ({ ...ALERT, team_id: ids.team }),
    status: 404,
    error: 'team_not_found',
  },
  'POST /me/public-bills usage_event_id': {
    body: ({ ids }) => ({ session_id: undefined, usage_event_id: ids.charge }),
    status: 404,
    error: 'usage_event_not_found',
  },
  'POST /me/public-bills session_id': {
    body: ({ ids }) => ({ session_id: ids.session }),
    status: 404,
    error: 'session_not_found',
  },
  'POST /admin/adjustments customer_id': {
    body: ({ owner }) => ({ customer_id: owner.customerId }),
    status: 403,
    error: 'forbidden',
  },
  'POST /me/invitations/accept token': {
    body: ({ secrets }) => ({ token: secrets.guestsToken }),
    status: 404,
    error: 'invitation_not_found',
  },
  'POST /topups payment_method_id': {
    body: ({ ids }) => ({ amount: 20, method: 'card', payment_method_id: ids.card }),
    status: 404,
    error: 'payment_method_not_found',
  },
  'PUT /topups/automatic payment_method_id': {
    body: ({ ids }) => ({ threshold_brl: 1, amount_brl: 20, payment_method_id: ids.card }),
    status: 404,
    error: 'payment_method_not_found',
  },
  'POST /responses previous_response_id': {
    body: ({ ids }) => ({ previous_response_id: ids.response }),
    status: 400,
    error: 'previous_response_not_found',
  },
  ...Object.fromEntries(
    ['compact', 'input_tokens'].map((path) => [
      `POST /responses/${path} previous_response_id`,
      {
        body: ({ ids }: Household) => ({ previous_response_id: ids.response }),
        status: 400,
        error: 'previous_response_not_found',
      },
    ]),
  ),
  'POST /responses item_reference': {
    body: ({ ids }) => ({
      input: [
        { type: 'item_reference', id: `${ids.response.replace('resp_', 'msg_')}0` },
        { role: 'user', content: 'Olá' },
      ],
    }),
    status: 400,
    error: 'invalid_request',
  },
  'POST /chat/completions previous_response_id': {
    body: ({ ids }) => ({
      messages: undefined,
      input: 'Olá',
      previous_response_id: ids.response,
    }),
    status: 400,
    error: 'previous_response_not_found',
  },
  'POST /batches input_file_id': {
    body: ({ ids }) => ({ input_file_id: ids.file }),
    status: 404,
    error: 'file_not_found',
  },
  'DELETE /me confirm': {
    body: ({ owner }) => ({ confirm: owner.email }),
    status: 400,
    error: 'invalid_request',
  },
}

const MESSAGES = [{ role: 'user', content: 'Olá' }]
const KEY = { name: 'nova', model_ids: ['sandbox-chat'] }
export const FORM_TYPE = 'multipart/form-data; boundary=b'
const FORM =
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nID3x\r\n--b--\r\n'
const IMAGE_FORM =
  '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nsandbox-image\r\n' +
  '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nOlá\r\n' +
  '--b\r\ncontent-disposition: form-data; name="image"; filename="a.webp"\r\n\r\n' +
  'RIFF0000WEBPVP8 \r\n--b--\r\n'
const LINES_FORM =
  '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n' +
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n--b--\r\n'

/** Valid bodies, by caller. */
const BODIES: Readonly<Record<string, (caller: Person, household: Household) => unknown>> = {
  'POST /chat/completions': () => ({ model: 'sandbox-chat', messages: MESSAGES }),
  'POST /responses': () => ({ model: 'sandbox-chat', input: 'Olá' }),
  'POST /responses/compact': () => ({ model: 'sandbox-chat', input: 'Olá' }),
  'POST /responses/input_tokens': () => ({ model: 'sandbox-chat', input: 'Olá' }),
  'POST /messages': () => ({ model: 'sandbox-chat', max_tokens: 100, messages: MESSAGES }),
  'POST /messages/count_tokens': () => ({ model: 'sandbox-chat', messages: MESSAGES }),
  'POST /completions': () => ({ model: 'sandbox-chat', prompt: 'Olá' }),
  'POST /embeddings': () => ({ model: 'sandbox-embedding', input: 'Olá' }),
  'POST /rerank': () => ({ model: 'sandbox-rerank', query: 'Olá', documents: ['Olá'] }),
  'POST /moderations': () => ({ input: 'Olá' }),
  'POST /images/generations': () => ({ model: 'sandbox-image', prompt: 'Olá', size: '256x256' }),
  'POST /images/edits': () => IMAGE_FORM,
  'POST /audio/speech': () => ({ model: 'sandbox-speech', input: 'Olá', voice: 'alloy' }),
  'POST /videos': () => ({ model: 'sandbox-video', prompt: 'Olá' }),
  'POST /audio/transcriptions': () => FORM,
  'POST /audio/translations': () => FORM,
  'POST /files': () => LINES_FORM,
  'POST /batches': ({ fileId }, { ids }) => ({
    input_file_id: fileId ?? ids.file,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }),
  'POST /messages/batches': () => ({
    requests: [
      { custom_id: 'um', params: { model: 'sandbox-chat', max_tokens: 100, messages: MESSAGES } },
    ],
  }),
  'POST /api-keys': () => KEY,
  'PATCH /api-keys/{id}': () => ({ name: 'mudada' }),
  'POST /api-keys/bulk-revoke': () => ({ all: true }),
  'POST /me/panic': () => ({ confirm: true }),
  'POST /leaked-keys': () => ({ key: 'sk-svc-none' }),
  'POST /me/prompts': () => ({ name: 'Novo', body: 'Olá' }),
  'PATCH /me/prompts/{id}': () => ({ name: 'Mudado', body: 'Mudado' }),
  'POST /me/prompts/{id}/run': ({ secret }) => ({ api_key: secret, model: 'sandbox-chat' }),
  'PUT /me/profile': () => ({ full_name: 'Outro nome', cpf_cnpj: TAX_ID }),
  'PUT /me/spending-guard': () => ({ factor: 5 }),
  'PUT /me/shield': () => ({ action: 'mask' }),
  // With it, strangers store responses, too.
  'PUT /me/preferences': () => ({ stored_responses_days: 7 }),
  'POST /admin/adjustments': (_caller, { owner }) => ({
    customer_id: owner.customerId,
    kind: 'credit',
    amount_brl: 1,
    reason: 'cortesia',
    reference: 'chamado-1',
  }),
  'POST /admin/service/pause': () => ({ reason: 'manutenção' }),
  'POST /admin/incidents': () => ({ title: 'Lentidão', message: 'Olhamos.' }),
  'PATCH /admin/incidents/{id}': () => ({ message: 'Passou.', status: 'resolved' }),
  'POST /admin/models/{id}/disable': () => ({ reason: 'manutenção' }),
  'POST /admin/models/{id}/markup': () => ({ markup_multiplier: 1.1, reason: 'revisão' }),
  'POST /admin/markups': () => ({ vendor: 'mistral', markup_multiplier: 1.1, reason: 'revisão' }),
  'PUT /admin/models/{id}': () => ({ routes: [{ upstream: 'sandbox', model: 'gpt-4o' }] }),
  'POST /admin/upstreams': () => ({ id: 'novo', kind: 'vllm', base_url: 'https://llm.example/v1' }),
  'PATCH /admin/upstreams/{id}': () => ({ state: 'paused' }),
  'POST /admin/price-updates/{id}/approve': () => ({ difference: 'x' }),
  'POST /admin/price-updates/{id}/reject': () => ({ difference: 'x' }),
  'POST /admin/reconciliation/differences/{id}/explain': () => ({ explanation: 'porque sim' }),
  'POST /topups': () => ({ amount: 20 }),
  'POST /payment-methods': () => cardBody(APPROVED),
  'PUT /topups/automatic': ({ cardId }, { ids }) => ({
    threshold_brl: 1,
    amount_brl: 20,
    payment_method_id: cardId ?? ids.card,
  }),
  'POST /me/refunds': () => ({ amount: 5 }),
  'POST /admin/refunds/{id}/reject': () => ({ note: 'não' }),
  'POST /admin/refunds/{id}/complete': () => ({ outcome: 'done' }),
  'POST /admin/customers/{id}/notes': () => ({ note: 'Ligou.' }),
  'POST /admin/customers/{id}/second-factor/reset': () => ({ reason: 'motivo' }),
  'POST /admin/fx-rates': () => ({ rate: 5.5, reason: 'motivo' }),
  'POST /admin/fx-rates/{id}/withdraw': () => ({ reason: 'motivo' }),
  'POST /admin/upstream-costs': () => ({ upstream: 'sandbox', csv: 'day,cost_usd\n2026-01-02,1' }),
  'POST /admin/customers/{id}/suspend': () => ({ reason: 'motivo' }),
  'DELETE /me': ({ email }) => ({ confirm: email, waive_balance: true }),
  'POST /me/teams': () => ({ name: 'Nova' }),
  'PATCH /me/teams/{id}': () => ({ name: 'Mudada', monthly_cap_brl: 1 }),
  'POST /me/teams/{id}/invitations': () => ({ email: 'nova@exemplo.com.br', role: 'admin' }),
  'POST /me/teams/{id}/keys': () => KEY,
  'PATCH /me/teams/{id}/members/{customerId}': () => ({ role: 'admin' }),
  'POST /me/alerts': () => ALERT,
  'POST /me/public-bills': (caller, { owner, ids }) => ({
    session_id: caller === owner ? ids.session : 'minha',
  }),
  'PATCH /me/alerts/{id}': () => ({ threshold: 20 }),
  'POST /webhooks': () => ({ url: 'https://hooks.example.com/novo' }),
  'PATCH /webhooks/{id}': () => ({ description: 'Mudado' }),
  'POST /usage/destinations': () => ({
    kind: 'otlp',
    url: 'https://otlp.example.com/novo',
    headers: { 'x-key': 'nova' },
  }),
  'PATCH /usage/destinations/{id}': () => ({ includes_content: true }),
  'POST /me/invitations/accept': (_caller, { secrets }) => ({ token: secrets.guestsToken }),
}

/** What has no entry above, as `<operation>: <what>`. */
export function uncovered({ name, path, described }: Operation): string[] {
  const prefixes = [...path.matchAll(/\}/g)].map(({ index }) => path.slice(0, index + 1))
  const body = Object.values(described.requestBody?.content ?? {})[0]?.schema
  const queries = (described.parameters ?? []).filter((one) => one.in === 'query')
  const fields = [
    ...queries.map((one) => one.name).filter((field) => field !== 'cursor' && !(field in FILTERS)),
    ...Object.keys(body?.properties ?? {}).filter((field) => !(`${name} ${field}` in NAMED)),
  ]
  return [
    ...prefixes.filter((prefix) => !(prefix in PARAMETERS)),
    ...fields.filter((field) => !HARMLESS.has(field)),
    ...(body && !(name in BODIES) ? ['body'] : []),
  ].map((what) => `${name}: ${what}`)
}

export function bodyFor({ name }: Operation, caller: Person, household: Household): unknown {
  return BODIES[name]?.(caller, household)
}

/** With the ids of the household; `ids` gives others, by the path up to the parameter. */
export function pathFor(
  { path }: Pick<Operation, 'path'>,
  household: Household,
  ids: Readonly<Record<string, string>> = {},
): string {
  return path.replaceAll(/\{\w+\}/g, (parameter, at: number) => {
    const prefix = path.slice(0, at + parameter.length)
    const isOnlyOne = path.lastIndexOf('{') === path.indexOf('{')
    const byPath = isOnlyOne ? PARAMETERS[path] : undefined
    const id = ids[prefix] ?? (byPath ?? PARAMETERS[prefix])?.(household)
    if (id === undefined) throw new Error(`${path}: ${prefix} has no entry`)
    return encodeURIComponent(id)
  })
}
