/** Codes as every authenticator app computes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  base32,
  findTotpStep,
  totpCode,
  totpStep,
  totpUri,
} from '../../src/identity/sign-in/totp.ts'

const SECRET = Buffer.from('12345678901234567890')

test('codes match RFC 6238, of which the last six digits count', () => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const)
    assert.equal(totpCode(SECRET, totpStep(seconds * 1000)), code.slice(2))
})

test('a code is valid half a minute before and after its time, and no other code is', () => {
  const now = 1_234_567_890_000
  const code = totpCode(SECRET, totpStep(now))
  const steps = [-60, -30, 0, 30, 60].map((seconds) =>
    findTotpStep(SECRET, code, now + seconds * 1000),
  )
  const step = totpStep(now)
  assert.deepEqual(steps, [undefined, step, step, step, undefined])
  for (const wrong of [
    '',
    code.slice(1),
    `${code}0`,
    `+${code.slice(1)}`,
    '１２３４５６',
    'abcdef',
  ])
    assert.equal(findTotpStep(SECRET, wrong, now), undefined)
})

test('the secret is encoded as in RFC 4648, and the URI names its account', () => {
  for (const [text, written] of [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const)
    assert.equal(base32(Buffer.from(text)), written)
  assert.equal(
    totpUri(SECRET, 'ana+1@exemplo.com.br'),
    'otpauth://totp/Catraca:ana%2B1%40exemplo.com.br?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Catraca&digits=6&period=30',
  )
})
