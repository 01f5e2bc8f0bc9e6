/** Every operation, with places for the ids of an account: in paths, queries, bodies and headers. */
import assert from 'node:assert/strict'
import { exampleBodies } from '../../../src/site/docs/example-bodies.ts'
import type { Operation } from '../../harness/operations.ts'

/** With `$kind` in the place of each id. */
export interface Template {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: string
}

export interface Filled {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly ids: readonly string[]
}

const MODELS = {
  chat: 'sandbox-chat',
  claude: 'sandbox-chat',
  claudeSmall: 'sandbox-chat',
  embedding: 'sandbox-embedding',
  rerank: 'sandbox-rerank',
  moderation: 'sandbox-moderation',
  image: 'sandbox-image',
  speech: 'sandbox-speech',
  video: 'sandbox-video',
  audio: 'sandbox-transcription',
}
const KEY_OF_SESSION = 'x-svc-api-key-id'

/** The kinds of ids that paths have, by the name of the parameter or the beginning of the path. */
const BY_NAME: Readonly<Record<string, string>> = {
  customerId: 'customer',
  invitationId: 'invitation',
  keyId: 'teamKey',
  attemptId: 'attempt',
  token: 'token',
}
const BY_PATH: readonly (readonly [string, string])[] = [
  ['/api-keys/', 'key'],
  ['/me/prompts/', 'prompt'],
  ['/me/alerts/', 'alert'],
  ['/webhooks/', 'webhook'],
  ['/usage/destinations/', 'destination'],
  ['/me/public-bills/', 'bill'],
  ['/payment-methods/', 'card'],
  ['/topups/', 'topUp'],
  ['/me/refunds/', 'refund'],
  ['/me/teams/', 'team'],
  ['/me/invitations/', 'invitation'],
  ['/me/sessions/', 'session'],
  ['/responses/', 'response'],
  ['/videos/', 'video'],
  ['/files/images/', 'image'],
  ['/files/', 'file'],
  ['/batches/', 'batch'],
  ['/messages/batches/', 'messageBatch'],
  ['/admin/customers/', 'customer'],
  ['/admin/api-keys/', 'key'],
  ['/admin/webhooks/', 'webhook'],
  ['/admin/refunds/', 'refund'],
  ['/admin/adjustments/', 'adjustment'],
  ['/admin/reconciliation/', 'difference'],
]
/** Their ids are everybody's. */
const OF_NOBODY = [
  '/models/',
  '/admin/models/',
  '/admin/incidents/',
  '/admin/upstreams/',
  '/admin/fx-rates/',
  '/admin/price-updates/',
]

const ALERT = { name: 'a', kind: 'daily_spend', threshold: 5, channels: ['email'] }
const CHAT = { model: MODELS.chat, messages: [{ role: 'user', content: 'Oi' }] }
const RESPONSE = { model: MODELS.chat, input: 'Oi' }

/** In place of the example: bodies with ids, and bodies that would change the caller's own account too much. */
const BODIES: Readonly<Record<string, readonly object[]>> = {
  'POST /me/public-bills': [{ usage_event_id: '$event' }, { session_id: '$session' }],
  'POST /api-keys/bulk-revoke': [{ ids: ['$key'] }, { ids: ['$teamKey'] }],
  'POST /topups': [{ amount: 50, method: 'card', payment_method_id: '$card' }],
  'PUT /topups/automatic': [{ threshold_brl: 20, amount_brl: 100, payment_method_id: '$card' }],
  'POST /me/refunds': [{ amount: 25, topup_id: '$topUp' }],
  'POST /me/alerts': [
    { ...ALERT, api_key_id: '$key' },
    { ...ALERT, api_key_id: '$teamKey' },
    { ...ALERT, team_id: '$team' },
  ],
  'POST /me/prompts/{id}/run': [{ api_key_id: '$key', values: {} }],
  'POST /chat/completions': [CHAT],
  'POST /responses': [
    { ...RESPONSE, previous_response_id: '$response' },
    { ...RESPONSE, input: [{ type: 'item_reference', id: '$item' }, ...CHAT.messages] },
  ],
  'POST /responses/compact': [{ ...RESPONSE, previous_response_id: '$response' }],
  'POST /responses/input_tokens': [{ ...RESPONSE, previous_response_id: '$response' }],
  'POST /batches': [
    { input_file_id: '$file', endpoint: '/v1/chat/completions', completion_window: '24h' },
  ],
  'POST /admin/adjustments': [
    { customer_id: '$customer', kind: 'credit', amount_brl: 1, reason: 'Um pedido do cliente' },
  ],
  'POST /me/panic': [{ confirm: false }],
  'DELETE /me': [{ confirm: 'outra conta' }],
  // They name nothing of an account, other than by the header, which is read as for chats.
  'POST /messages': [],
  'POST /messages/count_tokens': [],
  'POST /embeddings': [],
  'POST /rerank': [],
  'POST /moderations': [],
  'POST /images/generations': [],
  'POST /images/edits': [],
  'POST /audio/speech': [],
  'POST /videos': [],
  'POST /audio/transcriptions': [],
  'POST /audio/translations': [],
  'POST /files': [],
}

export function templatesOf(operations: Iterable<Operation>): readonly Template[] {
  const examples = exampleBodies(MODELS)
  return [...operations].flatMap(({ name, method, path: described, described: { parameters } }) => {
    const path = described.replaceAll(/\{([^}]+)\}/g, (_all, parameter: string) =>
      placeOf(described, parameter),
    )
    const bodies = BODIES[name] ?? [examples[name]]
    const plain = bodies.map((body) => ({
      name,
      method,
      path,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }))
    const byQuery = (parameters ?? []).flatMap((parameter) => {
      if (parameter.in !== 'query') return []
      const place = { api_key_id: '$key', session_id: '$session', after: '$item' }[parameter.name]
      return place === undefined
        ? []
        : [{ name, method, path: `${path}?${parameter.name}=${place}` }]
    })
    const byHeader =
      name === 'POST /chat/completions'
        ? [{ ...(plain[0] as Template), headers: JSON.stringify({ [KEY_OF_SESSION]: '$key' }) }]
        : []
    return [...plain, ...byQuery, ...byHeader]
  })
}

function placeOf(path: string, parameter: string): string {
  if (OF_NOBODY.some((start) => path.startsWith(start))) return 'sandbox-chat'
  const kind = BY_NAME[parameter] ?? BY_PATH.find(([start]) => path.startsWith(start))?.[1]
  assert.ok(kind !== undefined, `${path}: say above whose id {${parameter}} is`)
  return `$${kind}`
}

export function fill(template: Template, pick: (kind: string) => string): Filled {
  const { method, path, body, headers } = template
  const ids: string[] = []
  const filled = (text: string): string =>
    text.replaceAll(/\$([A-Za-z]+)/g, (_all, kind: string) => {
      const id = pick(kind)
      ids.push(id)
      return id
    })
  return {
    method,
    path: filled(path),
    ...(body === undefined ? {} : { body: filled(body) }),
    ...(headers === undefined ? {} : { headers: JSON.parse(filled(headers)) }),
    ids,
  }
}
