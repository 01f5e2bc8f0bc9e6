import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { generateJson } from './generate-json.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 20 },
    age: { type: ['integer', 'null'], exclusiveMinimum: 17, maximum: 18 },
    friends: { type: 'array', items: { $ref: '#' } },
    best: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
  },
  required: ['name', 'age', 'friends', 'best'],
  additionalProperties: false,
}

const schemas: Record<string, unknown> = {
  'an object that contains itself': person,
  'an array of distinct strings': {
    type: 'array',
    items: { type: 'string', maxLength: 30 },
    minItems: 5,
    uniqueItems: true,
  },
  'a tuple': {
    type: 'array',
    prefixItems: [{ type: 'string' }, { type: 'boolean' }],
    items: false,
  },
  'a fraction between close bounds': { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
  'a negative integer': { type: 'integer', maximum: -3 },
  'a multiple': { type: 'integer', multipleOf: 7, minimum: 50, maximum: 60 },
  'a constant': { const: { deep: [1] } },
  'merged parts of allOf': {
    allOf: [{ $ref: '#/$defs/a' }, { properties: { b: { type: 'integer' } }, required: ['b'] }],
    $defs: { a: { type: 'object', properties: { a: { enum: [4, 2] } }, required: ['a'] } },
  },
  'alternatives beside properties': {
    type: 'object',
    properties: { kind: { const: 'x' } },
    required: ['kind'],
    anyOf: [{ properties: { size: { type: 'number' } }, required: ['size'] }],
  },
  'a property without a schema': { type: 'object', required: ['anything', '__proto__'] },
  'an empty schema': {},
}

for (const [what, schema] of Object.entries(schemas)) {
  test(`the value is valid for ${what} with any seed`, () => {
    const validate = ajv.compile(schema as object)
    for (const seed of [0, 1, 2, 9]) {
      const value = JSON.parse(JSON.stringify(generateJson(schema, seed))) as unknown
      assert.ok(validate(value), `${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`)
    }
    assert.deepEqual(generateJson(schema), generateJson(schema))
  })
}

test('the generation terminates for a hostile schema', () => {
  const startedAt = performance.now()
  const many = { type: 'array', minItems: 1e9, items: { $ref: '#' } }
  const branching = { allOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] }
  const endless = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }
  for (const schema of [
    many,
    branching,
    endless,
    { $ref: '#' },
    { type: 'string', minLength: 1e12 },
  ]) {
    assert.ok(JSON.stringify(generateJson(schema)).length < 100_000)
  }
  assert.ok(performance.now() - startedAt < 1000)
})
