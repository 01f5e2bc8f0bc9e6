import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withModel } from './with-model.ts'

const read = (text: string) => withModel(Buffer.from(text), 'a "b"').toString()

test("the path's model goes before that of the body", () => {
  for (const text of ['{"model":"x","n":1}', ' {"n":1} \n', '{"n":"}"}', '{}', '{ \n }'])
    assert.equal(JSON.parse(read(text)).model, 'a "b"', text)
  assert.equal(JSON.parse(read('{"n":{"model":"x"}}')).n.model, 'x')
})

test('what is no object stays what it is', () => {
  for (const text of ['', ' ', '[1]', '7', '"{"', '{"n":1']) assert.equal(read(text), text)
})
