/** Which acts take an `Idempotency-Key`, and why the others need none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../src/app/config/config.ts'
import { listRoutes } from '../../src/app/resources.ts'

const SAME_STATE = 'sets a state: repeated, it changes nothing and answers the same'
const NO_CALLER = 'has no caller whose answers could be kept'
const MODEL_CALL =
  'a model call: its answer is not kept, and a repeated one is charged as any other'

/** Every other POST creates something or moves money, and takes an `Idempotency-Key`. */
const WITHOUT_KEY: Readonly<Record<string, string>> = {
  '/v1/chat/completions': MODEL_CALL,
  '/v1/completions': MODEL_CALL,
  '/v1/responses': MODEL_CALL,
  '/v1/responses/compact': MODEL_CALL,
  '/v1/responses/input_tokens': 'counts, and changes nothing',
  '/v1/messages': MODEL_CALL,
  '/v1/messages/count_tokens': 'counts, and changes nothing',
  '/v1beta/generateContent': MODEL_CALL,
  '/v1beta/streamGenerateContent': MODEL_CALL,
  '/v1beta/streamGenerateContent/list': MODEL_CALL,
  '/v1beta/countTokens': 'counts, and changes nothing',
  '/v1beta/embedContent': MODEL_CALL,
  '/v1beta/batchEmbedContents': MODEL_CALL,
  '/v1/embeddings': MODEL_CALL,
  '/v1/rerank': MODEL_CALL,
  '/v1/moderations': MODEL_CALL,
  '/v1/images/generations': MODEL_CALL,
  '/v1/images/edits': MODEL_CALL,
  '/v1/audio/speech': MODEL_CALL,
  '/v1/videos': MODEL_CALL,
  '/v1/audio/transcriptions': MODEL_CALL,
  '/v1/audio/translations': MODEL_CALL,
  '/v1/me/prompts/:id/run': MODEL_CALL,
  '/v1/files': 'stores another copy, which costs nothing; its body is not kept to be compared',
  '/v1/batches/:id/cancel': SAME_STATE,
  '/v1/messages/batches/:id/cancel': SAME_STATE,
  '/v1/api-keys/bulk-revoke': SAME_STATE,
  '/v1/api-keys/:id/pause': SAME_STATE,
  '/v1/api-keys/:id/resume': SAME_STATE,
  '/v1/me/panic': SAME_STATE,
  '/v1/leaked-keys': NO_CALLER,
  '/v1/admin/adjustments': 'its `reference`, which may come in this header, is unique for ever',
  '/v1/admin/reconciliation/differences/:id/explain': SAME_STATE,
  '/v1/admin/customers/:id/suspend': SAME_STATE,
  '/v1/admin/customers/:id/reinstate': SAME_STATE,
  '/v1/admin/customers/:id/second-factor/reset': SAME_STATE,
  '/v1/admin/upstream-costs': SAME_STATE,
  '/v1/admin/api-keys/:id/pause': SAME_STATE,
  '/v1/admin/api-keys/:id/resume': SAME_STATE,
  '/v1/admin/models/:id/disable': SAME_STATE,
  '/v1/admin/models/:id/enable': SAME_STATE,
  '/v1/admin/upstreams/:id/test': 'it changes nothing; each test is a new one',
  '/v1/admin/service/pause': SAME_STATE,
  '/v1/admin/service/resume': SAME_STATE,
  '/v1/admin/webhooks/:id/enable': SAME_STATE,
}

const WITH_KEY = [
  '/v1/batches',
  '/v1/messages/batches',
  '/v1/api-keys',
  '/v1/me/prompts',
  '/v1/me/prompts/:id/clone',
  '/v1/me/teams',
  '/v1/me/teams/:id/invitations',
  '/v1/me/teams/:id/keys',
  '/v1/me/invitations/accept',
  '/v1/me/invitations/:id/accept',
  '/v1/me/alerts',
  '/v1/me/public-bills',
  '/v1/me/trial-credit',
  '/v1/usage/destinations',
  '/v1/usage/destinations/:id/test',
  '/v1/webhooks',
  '/v1/webhooks/:id/rotate-secret',
  '/v1/webhooks/:id/test',
  '/v1/webhooks/attempts/:attemptId/replay',
  '/v1/payment-methods',
  '/v1/topups',
  '/v1/me/refunds',
  '/v1/admin/refunds/:id/approve',
  '/v1/admin/refunds/:id/reject',
  '/v1/admin/refunds/:id/complete',
  '/v1/admin/adjustments/:id/approve',
  '/v1/admin/adjustments/:id/reject',
  '/v1/admin/customers/:id/notes',
  '/v1/admin/fx-rates',
  '/v1/admin/fx-rates/:id/withdraw',
  '/v1/admin/incidents',
  '/v1/admin/markups',
  '/v1/admin/models/:id/markup',
  '/v1/admin/upstreams',
  '/v1/admin/price-updates/:id/approve',
  '/v1/admin/price-updates/:id/reject',
]

test('every POST under /v1 takes an Idempotency-Key, or the list says why not', () => {
  const routes = listRoutes(loadConfig({ DATA_DIR: '.' }, '.')).filter(
    ({ method, url, access }) =>
      [method].flat().includes('POST') &&
      /^\/v1(?:beta)?\//.test(url) &&
      access !== 'signed' &&
      access !== 'machine',
  )
  const takesKey = ({ schema }: { schema: object }): boolean =>
    'headers' in schema && JSON.stringify(schema.headers).includes('"idempotency-key"')
  const urlsOf = (found: readonly { url: string }[]) => found.map(({ url }) => url).toSorted()
  assert.deepEqual(urlsOf(routes.filter(takesKey)), WITH_KEY.toSorted())
  assert.deepEqual(
    urlsOf(routes.filter((route) => !takesKey(route))),
    Object.keys(WITHOUT_KEY).toSorted(),
  )
})
