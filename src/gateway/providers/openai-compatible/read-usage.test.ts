import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readUsage } from './read-usage.ts'

const usage = (prompt: number, completion: number, more: object) =>
  readUsage({ prompt_tokens: prompt, completion_tokens: completion, ...more })

const of = (promptTokens: number, completionTokens: number, more: object = {}) => ({
  promptTokens,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens,
  reasoningTokens: 0,
  ...more,
})

test('cached tokens that are counted beside the prompt are a part of it, and no output', () => {
  const details = { cached_tokens: 1_000 }
  // Each with and without the total that shows it.
  for (const more of [{}, { total_tokens: 1_150 }])
    assert.deepEqual(
      usage(100, 50, { ...more, prompt_tokens_details: details }),
      of(1_100, 50, { cachedTokens: 1_000 }),
    )
  // The total alone shows it where the prompt is longer.
  assert.deepEqual(
    usage(2_000, 50, { total_tokens: 3_050, prompt_tokens_details: details }),
    of(3_000, 50, { cachedTokens: 1_000 }),
  )
  assert.deepEqual(
    usage(100, 50, {
      total_tokens: 1_850,
      prompt_tokens_details: { ...details, cache_write_tokens: 700 },
    }),
    of(1_800, 50, { cachedTokens: 1_000, cacheWriteTokens: 700 }),
  )
})

test('reasoning that only the total counts is output, beside cached tokens of either kind', () => {
  const prompt_tokens_details = { cached_tokens: 80 }
  assert.deepEqual(
    usage(100, 50, { total_tokens: 450, prompt_tokens_details }),
    of(100, 350, { cachedTokens: 80 }),
  )
  assert.deepEqual(
    usage(10, 50, { total_tokens: 440, prompt_tokens_details }),
    of(90, 350, { cachedTokens: 80 }),
  )
})
