import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { readSigningSecret } from './sign-webhook.ts'
import { verifyWebhook, type IncomingHeaders } from './verify-webhook.ts'

const WRITTEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const secret = readSigningSecret(WRITTEN) as Buffer

/** Published signatures, not computed here. */
const VECTORS = [
  {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    seconds: 1614265330,
    body: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    seconds: 1795262400,
    body: '{"type":"topup.paid","timestamp":"2026-11-21T12:00:00.000Z","data":{"id":"1f81eb52-5198-4599-803e-771906343485","amount_brl":50}}',
    signature: 'v1,ZG3uUE5wxPjg2d81+G8YbcMeRJ5JjMsbyo4lnlbCkQs=',
  },
]
const [VECTOR] = VECTORS as [(typeof VECTORS)[number]]
const GOOD: IncomingHeaders = {
  'webhook-id': VECTOR.id,
  'webhook-timestamp': String(VECTOR.seconds),
  'webhook-signature': VECTOR.signature,
}

function verify(headers: IncomingHeaders, afterSeconds = 0, body = VECTOR.body): boolean {
  const now = new Date((VECTOR.seconds + afterSeconds) * 1000)
  return verifyWebhook(secret, headers, Buffer.from(body), now) !== undefined
}

test('known signatures verify under either family of header names', () => {
  for (const { id, seconds, body, signature } of VECTORS)
    for (const family of ['webhook', 'svix']) {
      const headers = {
        [`${family}-id`]: id,
        [`${family}-timestamp`]: String(seconds),
        [`${family}-signature`]: signature,
      }
      const at = new Date(seconds * 1000)
      assert.deepEqual(verifyWebhook(secret, headers, Buffer.from(body), at), { id, sentAt: at })
    }
})

test('signatures of the reference library verify, whatever the bytes', () => {
  const at = new Date('2026-11-21T12:00:00Z')
  for (const body of ['', '{"nome":"Zoë 🚪"}', '{ "a" :\n1 }', 'no json']) {
    const signature = new Webhook(WRITTEN).sign('msg_1', at, body)
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(at.getTime() / 1000),
      'svix-signature': signature,
    }
    assert.ok(verifyWebhook(secret, headers, Buffer.from(body), at), body)
    const other = readSigningSecret(`whsec_${Buffer.alloc(32, 1).toString('base64')}`) as Buffer
    assert.equal(verifyWebhook(other, headers, Buffer.from(body), at), undefined)
  }
})

test('one valid signature of several is enough, and other kinds are ignored', () => {
  const { signature } = VECTOR
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`
  for (const given of [
    `${wrong} ${signature}`,
    `v1a,abc ${signature} ${wrong}`,
    `v2,x ${signature}`,
  ])
    assert.ok(verify({ ...GOOD, 'webhook-signature': given }), given)
  for (const given of [
    wrong,
    `v2${signature.slice(2)}`,
    signature.slice(3),
    `${wrong} ${wrong}`,
    '',
  ])
    assert.ok(!verify({ ...GOOD, 'webhook-signature': given }), given)
})

test('a clock difference of up to five minutes is accepted either way', () => {
  for (const seconds of [-300, -1, 0, 300]) assert.ok(verify(GOOD, seconds), String(seconds))
  for (const seconds of [-301, 301, 86_400]) assert.ok(!verify(GOOD, seconds), String(seconds))
})

test('a missing or odd header and changed bytes are refused', () => {
  for (const name of Object.keys(GOOD)) assert.ok(!verify({ ...GOOD, [name]: undefined }), name)
  for (const [name, value] of [
    ['webhook-id', ''],
    ['webhook-id', 'a b'],
    ['webhook-id', 'x'.repeat(256)],
    ['webhook-id', 'msg_other'],
    ['webhook-timestamp', '1614265331'],
    ['webhook-timestamp', '1614265330.0'],
    ['webhook-timestamp', ' 1614265330'],
    ['webhook-timestamp', '01614265330'],
    ['webhook-timestamp', '1e9'],
    ['webhook-signature', VECTOR.signature.toLowerCase()],
  ] as const)
    assert.ok(!verify({ ...GOOD, [name]: value }), `${name}: ${value}`)
  assert.ok(!verify(GOOD, 0, `${VECTOR.body} `))
  assert.ok(!verify({}))
  // Headers of the two families are not mixed.
  assert.ok(!verify({ ...GOOD, 'webhook-id': undefined, 'svix-id': VECTOR.id }))
})

test('a secret is read as providers show it, and any other text is refused', () => {
  const expected = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  for (const text of [WRITTEN, `v1,${WRITTEN}`, ` ${WRITTEN}\n`])
    assert.deepEqual(readSigningSecret(text), expected)
  for (const text of [
    '',
    'whsec_',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_c2hvcnQ=',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    `${WRITTEN}!`,
    `v2,${WRITTEN}`,
    `whsec_${'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'.slice(0, -1)}`,
  ])
    assert.equal(readSigningSecret(text), undefined, text)
})
