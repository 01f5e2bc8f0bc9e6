import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createSigningSecret, signWebhook, writeSigningSecret } from './sign-webhook.ts'

const SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

test('signatures follow Standard Webhooks', () => {
  const vectors = [
    {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1614265330,
      body: '{"test": 2432232314}',
      signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    {
      id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
      timestampSeconds: 1795262400,
      body: '{"type":"topup.paid","timestamp":"2026-11-21T12:00:00.000Z","data":{"id":"1f81eb52-5198-4599-803e-771906343485","amount_brl":50}}',
      signature: 'v1,ZG3uUE5wxPjg2d81+G8YbcMeRJ5JjMsbyo4lnlbCkQs=',
    },
  ]
  for (const { signature, ...message } of vectors)
    assert.equal(signWebhook(Buffer.from(SECRET, 'base64'), message), signature)
})

test("a customer's secret is 32 bytes that the reference library accepts", () => {
  const secret = createSigningSecret()
  const written = writeSigningSecret(secret)
  assert.match(written, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const at = new Date('2026-11-21T12:00:00Z')
  const message = { id: 'a', timestampSeconds: at.getTime() / 1000, body: '{"ção":"ã"}' }
  assert.equal(new Webhook(written).sign('a', at, message.body), signWebhook(secret, message))
})
