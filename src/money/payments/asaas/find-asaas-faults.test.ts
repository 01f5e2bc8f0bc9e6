import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAsaasFaults } from './find-asaas-faults.ts'

const SOUND = {
  baseUrl: 'https://api.asaas.com/v3',
  apiKey: '$aact_prod_000abc',
  webhookToken: 'kD8s-Qm2x-Vb7n-Zr4t-Hc9w-Lp3f-Jy6g',
}

test('valid settings have no fault', () => {
  assert.deepEqual(findAsaasFaults(SOUND), [])
  const sandbox = { baseUrl: 'https://api-sandbox.asaas.com/v3', apiKey: '$aact_hmlg_000abc' }
  assert.deepEqual(findAsaasFaults({ ...SOUND, ...sandbox }), [])
})

test('each fault is reported without repeating a secret', () => {
  for (const change of [
    { baseUrl: 'https://api.asaas.com' },
    { baseUrl: 'https://api-sandbox.asaas.com/v3' },
    { apiKey: '$aact_hmlg_000abc' },
    { apiKey: 'aact_prod_000abc' },
    { webhookToken: undefined },
    { webhookToken: '' },
    { webhookToken: 'kD8s-Qm2x' },
    { webhookToken: 'kD8s Qm2x Vb7n Zr4t Hc9w Lp3f Jy6g' },
    { webhookToken: `${SOUND.webhookToken}aaaa` },
    { webhookToken: `${SOUND.webhookToken}12345` },
    { webhookToken: SOUND.webhookToken.repeat(9) },
  ]) {
    const faults = findAsaasFaults({ ...SOUND, ...change })
    assert.ok(faults.length > 0, JSON.stringify(change))
    assert.doesNotMatch(faults.join(), /kD8s|000abc/)
  }
})
