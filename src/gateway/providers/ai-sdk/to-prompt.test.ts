import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadFile } from './read-file.ts'
import { RefusedRequest } from './to-failure.ts'
import { toPrompt } from './to-prompt.ts'

const noFile = async (): Promise<never> => assert.fail('there is no file to read')
const readFile: ReadFile = Object.assign(noFile, { data: noFile })

function promptOf(...texts: string[]) {
  const calls = texts.map((text, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: 'save', arguments: text },
  }))
  return toPrompt([{ role: 'assistant', content: null, tool_calls: calls }], readFile)
}

test('the arguments of tool calls contain at most as many values as a body', async () => {
  const objects = (count: number): string => `{"all":[${'{},'.repeat(count)}{}]}`
  await assert.rejects(promptOf(objects(100_000)), RefusedRequest)
  await assert.rejects(
    promptOf(`{"all":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
    RefusedRequest,
  )
  await assert.rejects(
    promptOf(...Array.from({ length: 100 }, () => objects(1_000))),
    RefusedRequest,
    'also of many calls together',
  )
  await promptOf(objects(10_000), JSON.stringify({ text: '{}'.repeat(200_000) }))
})

test('arguments that a model wrote wrongly are shown as they are: the conversation goes on', async () => {
  const inputs = (await promptOf('{"a":', '[1]', '', '{"a":1}')).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.map((part) => 'input' in part && part.input),
  )
  assert.deepEqual(inputs, [{ invalid_json: '{"a":' }, { value: [1] }, {}, { a: 1 }])
})

test('instructions alone are a question', async () => {
  const system = { role: 'system', content: 'Conte até três.' }
  const text = [{ type: 'text', text: 'Conte até três.' }]
  assert.deepEqual(await toPrompt([system], readFile), [{ role: 'user', content: text }])
  const question = { role: 'user', content: 'E?' }
  const [first] = await toPrompt([system, question], readFile)
  assert.equal(first?.role, 'system')
})
