import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainFault } from './explain-fault.ts'

test('a fault of a schema reads in Portuguese, whatever the keyword', () => {
  const said: readonly (readonly [
    keyword: string,
    params: Record<string, unknown>,
    text: string,
  ])[] = [
    ['type', { type: 'integer' }, 'deve ser um número inteiro'],
    ['type', { type: ['string', 'null'] }, 'deve ser um texto ou null'],
    ['minLength', { limit: 1 }, 'deve ter no mínimo 1 caractere'],
    ['maxItems', { limit: 100 }, 'deve ter no máximo 100 itens'],
    ['exclusiveMinimum', { limit: 0 }, 'deve ser maior que 0'],
    ['enum', { allowedValues: ['a', 'b'] }, 'deve ser um destes: a, b'],
    ['format', { format: 'uuid' }, 'deve ser um UUID'],
    ['required', { missingProperty: 'x' }, 'é obrigatório'],
    ['something-new', {}, 'não é válido'],
  ]
  for (const [keyword, params, text] of said)
    assert.equal(explainFault({ keyword, params }), text, keyword)
})
