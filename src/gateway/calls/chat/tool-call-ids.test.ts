import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc, { anyCharacter } from '../../../../test/harness/fast-check.ts'
import { createToolCallIds } from './tool-call-ids.ts'

const KEY = Buffer.alloc(32, 1)
const ids = createToolCallIds([KEY])

function hidden(id: string, by = ids): string {
  const message = { tool_calls: [{ id, type: 'function' }] }
  by.hide(message)
  return message.tool_calls[0]?.id as string
}

function revealed(id: string, by = ids): string {
  const messages = [
    { role: 'assistant', tool_calls: [{ id, type: 'function' }] },
    { role: 'tool', tool_call_id: id },
  ]
  by.reveal(messages)
  const [asked, answered] = messages
  assert.equal(asked?.tool_calls?.[0]?.id, answered?.tool_call_id, 'call and answer agree')
  return answered?.tool_call_id as string
}

const digits = (alphabet: string, length: number) =>
  fc
    .array(fc.constantFrom(...Array.from(alphabet)), { minLength: length, maxLength: length })
    .map((all) => all.join(''))
const HEX = '0123456789abcdef'
const BASE62 = `${HEX}ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ`
const known = fc.oneof(
  digits(BASE62, 24).map((rest) => `call_${rest}`),
  digits(BASE62, 24).map((rest) => `toolu_${rest}`),
  digits(BASE62, 24).map((rest) => `toolu_bdrk_${rest}`),
  digits(BASE62, 22).map((rest) => `tooluse_${rest}`),
  digits(HEX, 32).map((rest) => `chatcmpl-tool-${rest}`),
  digits(BASE62, 9),
)

test('ids of every known shape look alike, 40 characters that any upstream takes, and come back', () => {
  fc.assert(
    fc.property(known, (id) => {
      const shown = hidden(id)
      assert.match(shown, /^call_[A-Za-z0-9_-]{35}$/)
      assert.equal(revealed(shown), id)
      assert.equal(hidden(id), shown, 'all chunks of a stream show one id')
      assert.equal(hidden(shown), shown, 'a hidden id stays as it is')
    }),
  )
})

test('any other id comes back byte for byte, and is never longer than what the client sent', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 300 }), (id) => {
      const shown = hidden(id)
      assert.equal(revealed(shown), id)
      assert.ok(Buffer.byteLength(id) <= Buffer.byteLength(shown))
    }),
  )
  for (const id of [
    '0',
    '000000000',
    'call_',
    'toolu_',
    'call_0',
    'ü',
    `call_${'z'.repeat(400)}`,
  ]) {
    assert.equal(revealed(hidden(id)), id)
    assert.match(hidden(id), /^call_[A-Za-z0-9_-]{35,}$/)
  }
  const endless = 'x'.repeat(10_000)
  assert.equal(hidden(endless), endless, 'the length is bounded')
})

test('ids that are not ours pass unchanged, as those of conversations from before', () => {
  const foreign = fc.oneof(
    known,
    digits(`${BASE62}_-`, 35).map((rest) => `call_${rest}`),
    fc.string(),
  )
  fc.assert(fc.property(foreign, (id) => assert.equal(revealed(id), id)))
  const shown = hidden('toolu_bdrk_01ABC')
  const other = shown.at(20) === 'A' ? 'B' : 'A'
  const changed = shown.slice(0, 20) + other + shown.slice(21)
  assert.equal(revealed(changed), changed, 'a changed id is nobody’s')
  assert.equal(revealed(shown, createToolCallIds([randomBytes(32)])), shown, 'another key')
})

test('after a change of the sealing key, ids of running conversations still come back', () => {
  const shown = hidden('toolu_01A')
  const later = createToolCallIds([randomBytes(32), KEY])
  assert.equal(revealed(shown, later), 'toolu_01A')
  assert.notEqual(hidden('toolu_01A', later), shown)
})

test('messages without usable ids stay as they are', () => {
  for (const message of [
    {},
    { tool_calls: null },
    { tool_calls: [null, { id: 7 }, { id: '' }, {}] },
  ]) {
    const before = JSON.stringify(message)
    ids.hide(message)
    assert.equal(JSON.stringify(message), before)
  }
  const messages = [
    { tool_calls: 'x', tool_call_id: 7 },
    { role: 'tool', tool_call_id: null },
  ]
  const before = JSON.stringify(messages)
  ids.reveal(messages)
  assert.equal(JSON.stringify(messages), before)
})

test('public ids of conversations that run across an update are read: their form does not change', () => {
  const LONG = `a long one, é, ${'x'.repeat(50)}`
  for (const [id, shown] of [
    ['toolu_01AbCdEfGhIjKlMnOpQrStUv', 'call_Y7qazwmT3Py9sZiIbQ3S_DwyWWv9Grco3Ac'],
    ['call_abcdefghijklmnopqrstuvwx', 'call_PaOH6BG8HwIardjyzPvu2LU7sfctU21XUvA'],
    [
      LONG,
      'call_GQOIKSS-dS_UIOWEZ9W-jiM99F3TFf-eUfuXI3ozpWBRyK0QW4hbp7JhT_HCVST5E2mxOUqDrSmDyMDTHtu1JJ-4Tjyee9ZrAQ',
    ],
  ] as const) {
    assert.equal(hidden(id), shown)
    assert.equal(revealed(shown), id)
  }
})

/** Of this process's processor time, which other processes of a busy machine do not lengthen. */
function cpuMsOf(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...times)
}

test('an id costs no more than a few hashes: a request has as many as fit into its bytes', () => {
  const shown = Array.from({ length: 4_000 }, (_, index) => hidden(`toolu_${index + 10_000}`))
  const bytes = Buffer.alloc(100)
  const hashes = cpuMsOf(() => {
    for (const _ of shown) hash('sha256', bytes, 'buffer')
  })
  const opened = cpuMsOf(() => {
    for (const id of shown) ids.revealed(id)
  })
  // An object of OpenSSL for each id took 34 times as long as a hash.
  assert.ok(opened < 12 * hashes, `${opened.toFixed(0)} ms, ${hashes.toFixed(0)} ms of hashes`)
})
