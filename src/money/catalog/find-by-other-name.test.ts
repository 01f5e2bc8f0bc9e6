import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInModels } from './built-in-models.ts'
import { findByOtherName } from './find-by-other-name.ts'

const models = new Map(builtInModels.map((model) => [model.id, model]))
const idOf = (name: string) => findByOtherName(name, (id) => models.get(id))?.id

test('a model is found by its maker in front and its version behind', () => {
  const names = {
    'openai/gpt-4o': 'gpt-4o',
    'gpt-4o-2024-11-20': 'gpt-4o',
    'openai/gpt-4o-mini-2024-07-18': 'gpt-4o-mini',
    'claude-haiku-4-5-20251001': 'claude-haiku-4-5',
    'claude-haiku-4-5@20251001': 'claude-haiku-4-5',
    'Anthropic/claude-opus-4-5-latest': 'claude-opus-4-5',
    'x-ai/grok-4': 'grok-4',
  }
  for (const [name, id] of Object.entries(names)) assert.equal(idOf(name), id, name)
})

test('a version at another price, of another maker or unknown is not taken for a model', () => {
  for (const name of [
    // At the double price.
    'gpt-4o-2024-05-13',
    'gpt-4o-2030-01-01',
    'gpt-4o-audio-preview-2024-10-01',
    'gpt-5-chat-latest',
    'anthropic/gpt-4o',
    'sandbox/gpt-4o',
    '/gpt-4o',
    'openai/',
    '',
    `${'x'.repeat(1_000_000)}-20251001`,
  ])
    assert.equal(idOf(name), undefined, name.slice(0, 50))
})

test("an operator's model has no other names: its versions have no known price", () => {
  const own = { id: 'nosso', vendor: 'other' }
  assert.equal(
    findByOtherName('nosso-20251001', (id) => (id === 'nosso' ? own : undefined)),
    undefined,
  )
})
