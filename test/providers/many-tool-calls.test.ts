// deep: an attack
/** A hostile upstream may send as many tool calls as fit into a stream: each costs the same, however many came before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import type { createCallNumbers } from '../../src/gateway/providers/openai-compatible/number-calls.ts'
import { countWork } from '../harness/count-work.ts'

type Numbering = { readonly createCallNumbers: typeof createCallNumbers }

const CALLS = 1_000
const call = (place: number, more: JsonObject): JsonObject => ({
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  id: `call_${place}`,
  ...more,
})

/** One delta for each call, in the ways in which upstreams number them. */
const MANNERS: Readonly<Record<string, (place: number) => JsonObject>> = {
  'numbered, with ids': (place) => call(place, { index: place }),
  'numbered, without ids': (place) => call(place, { index: place, id: undefined }),
  'numbered backwards': (place) => call(place, { index: -place }),
  'all of them zero': (place) => call(place, { index: 0 }),
  'without numbers': (place) => call(place, {}),
  'without numbers and ids': (place) => call(place, { id: undefined }),
  'without names': (place) => call(place, { index: place, function: { arguments: '{}' } }),
  'all of them the same': () => call(0, { index: 0 }),
}

/** The module anew, so that its loops are counted too. */
let loads = 0
async function workOf(manner: (place: number) => JsonObject, calls: number): Promise<number> {
  const module = `../../src/gateway/providers/openai-compatible/number-calls.ts?load=${(loads += 1)}`
  return countWork(async () => {
    const { createCallNumbers } = (await import(module)) as Numbering
    const numbers = createCallNumbers()
    // The deltas of the first again, after those of all others.
    for (const place of [...Array(calls).keys(), ...Array(calls).keys()]) {
      const delta = { tool_calls: [manner(place)] }
      numbers.number({ choices: [{ index: 0, delta }] })
    }
  })
}

for (const [name, manner] of Object.entries(MANNERS))
  test(`${name}: twice as many tool calls of a stream are about twice the work`, async () => {
    const [once, twice] = [await workOf(manner, CALLS), await workOf(manner, 2 * CALLS)]
    assert.ok(once > 2 * CALLS, `${once} blocks: nothing was counted`)
    // A search through all calls before is four times as much.
    assert.ok(twice < 3 * once, `${once} blocks, and ${twice} of twice as many calls`)
  })
