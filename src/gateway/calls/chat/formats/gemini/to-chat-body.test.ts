import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toJsonSchema } from './to-chat-body.ts'

test("Google's schemas become JSON Schema, at every depth and in both spellings", () => {
  const item = { type: 'STRING', enum: ['a'], nullable: true, min_length: '1' }
  assert.deepEqual(
    toJsonSchema({
      type: 'OBJECT',
      property_ordering: ['lista'],
      properties: {
        lista: { type: 'ARRAY', items: item, maxItems: '3' },
        qualquer: { anyOf: [{ type: 'NUMBER' }, { type: 'NULL' }], nullable: true },
        solto: { type: 'TYPE_UNSPECIFIED', example: 1 },
      },
      required: ['lista'],
    }),
    {
      type: 'object',
      properties: {
        lista: {
          type: 'array',
          items: { type: ['string', 'null'], enum: ['a', null], minLength: 1 },
          maxItems: 3,
        },
        qualquer: { anyOf: [{ type: 'number' }, { type: 'null' }, { type: 'null' }] },
        solto: { examples: [1] },
      },
      required: ['lista'],
    },
  )
})

test('names of properties stay as they are, those of every object too', () => {
  const properties = JSON.parse('{"__proto__":{"type":"STRING"},"min_items":{},"constructor":{}}')
  const schema = toJsonSchema({ properties })
  assert.equal(
    JSON.stringify(schema.properties),
    '{"__proto__":{"type":"string"},"min_items":{},"constructor":{}}',
  )
  assert.equal(Object.getPrototypeOf(schema.properties), Object.prototype)
})
