import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduleFromData } from './price-from-data.ts'
import { packagedData, PublishedDataFault } from './published-prices.ts'
import { opinionOn, opinionOnEntry, readSecondList } from './second-opinion.ts'

const NOW = new Date('2026-11-29T12:00:00Z')

function routerList(prices: Record<string, readonly [string, string]>): string {
  const data = Object.entries(prices).map(([id, [prompt, completion]]) => ({
    id,
    name: id,
    pricing: { prompt, completion, input_cache_read: '0', discount: 0 },
    architecture: { modality: 'text->text' },
  }))
  return JSON.stringify({ data, total: data.length })
}

test('of a list in OpenRouter\u2019s form, prices of makers are read, and not those of aliases, variants or other servers', () => {
  const sound: readonly [string, string] = ['0.000003', '0.000015']
  const read = readSecondList(
    routerList({
      'anthropic/claude-sonnet-4.5': sound,
      'openai/gpt-4o-mini': ['0.00000015', '6e-7'],
      'mistralai/mistral-large-2512': sound,
      '~anthropic/claude-sonnet-latest': sound,
      'openai/gpt-4o:extended': sound,
      'openai/gpt-oss-120b': sound,
      'openai/gpt-free': ['0', '0'],
      'openrouter/auto': ['-1', '-1'],
      'openai/gpt-unpriced': ['-1', '-1'],
      'openai/gpt-word': ['three', '0.1'],
      'openai/gpt-huge': ['1', '1e300'],
      'meta-llama/llama-4': sound,
      '__proto__/x': sound,
    }),
  )
  const prices = { input_mtok: 3, output_mtok: 15 }
  const entry = (id: string, amounts: object) => ({ id, match: { equals: id }, prices: amounts })
  assert.deepEqual(read, [
    { id: 'anthropic', models: [entry('claude-sonnet-4.5', prices)] },
    { id: 'openai', models: [entry('gpt-4o-mini', { input_mtok: 0.15, output_mtok: 0.6 })] },
    { id: 'mistral', models: [entry('mistral-large-2512', prices)] },
  ])
})

test('a list of another form, or without a price that can be read, is refused', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => [
    `openai/gpt-${index}`,
    ['1e-6', '1e-6'],
  ])
  for (const json of [
    '',
    '{',
    'null',
    '{}',
    '{"data":{}}',
    '{"data":[]}',
    '{"data":[{"id":"openai/gpt-4o","pricing":{"prompt":0.000003,"completion":0.000015}}]}',
    '{"data":[{"id":"openai/gpt-4o"}]}',
    '[{"id":"openai","models":[{"id":"x","currency":"BRL"}]}]',
    routerList({ 'openai/gpt-free': ['0', '0'] }),
    routerList(Object.fromEntries(many)),
  ])
    assert.throws(() => readSecondList(json), PublishedDataFault, json.slice(0, 100))
})

test('a list in the form of the price data agrees with itself about every model at every time', () => {
  const second = readSecondList(JSON.stringify(packagedData()))
  const disputed = packagedData().flatMap(({ id, models }) =>
    models.filter((model) => opinionOnEntry(id, model, second, NOW)?.agrees === false),
  )
  // Only what is announced for later, which the second list does not charge yet.
  assert.deepEqual(
    disputed.filter(({ prices }) => !JSON.stringify(prices).includes('start_date')),
    [],
  )
})

test('lists agree within a hundredth of input and output, under both ways to write a version, and else say nothing', () => {
  const from = { provider: 'openai', model: 'gpt-4.1-mini' }
  const prices = scheduleFromData(from, 1e6).map(({ price }) => price)
  const say = (input: number, output: number, id = 'gpt-4-1-mini') =>
    opinionOn(
      prices,
      from,
      [
        {
          id: 'openai',
          models: [
            { id, match: { equals: id }, prices: { input_mtok: input, output_mtok: output } },
          ],
        },
      ],
      NOW,
    )
  // The package has 0.4 and 1.6.
  assert.deepEqual(say(0.4, 1.6), { agrees: true, text: 'second list agrees' })
  assert.ok(say(0.404, 1.584)?.agrees)
  assert.deepEqual(say(0.405, 1.6), {
    agrees: false,
    text: 'second list says input 0.405, output 1.6',
  })
  for (const [input, output] of [
    [0.4, 1.62],
    [4, 16],
    [0.39, 1.6],
  ] as const)
    assert.equal(say(input, output)?.agrees, false, `${input} ${output}`)
  assert.equal(say(0, 0), undefined)
  assert.equal(say(0.4, 1.6, 'gpt-4.1'), undefined)
  assert.equal(opinionOn(prices, from, [], NOW), undefined)
})
