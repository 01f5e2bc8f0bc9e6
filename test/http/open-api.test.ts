// deep: every operation against its description
/**
 * Compares the API with its description: every operation of `/v1/openapi.json` is called, and its answer has the
 * described shape. A new operation without a case fails.
 */
import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { after, test } from 'node:test'
import { describeRoutes } from '../../web/contract/describe-routes.ts'
import type { ContractCase, ContractCases } from './contract-cases/contract-case.ts'
import { ADMIN_EMAIL } from './contract-cases/seed-admin.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { createAnswerCheck, operationsOf, readOpenApi } from '../harness/operations.ts'

const gateway = await startGateway({ ADMIN_EMAILS: ADMIN_EMAIL })
after(() => gateway.stop())
const document = await readOpenApi(gateway.node.baseUrl)
const operations = operationsOf(document)
const faultOf = createAnswerCheck()

/** The calls of each operation, the valid one first. */
const CASES: ContractCases = {}
for await (const file of glob('contract-cases/*.ts', { cwd: import.meta.dirname })) {
  const { createCases } = (await import(`./${file}`)) as {
    createCases?: (gateway: TestGateway) => Promise<ContractCases>
  }
  Object.assign(CASES, await createCases?.(gateway))
}

async function call(name: string, given: ContractCase): Promise<Asked> {
  const [method = '', path = ''] = name.split(' ')
  return ask(gateway.node.baseUrl, given.path ?? path, {
    method,
    body: given.body,
    secret: given.isAnonymous ? undefined : (given.secret ?? gateway.secret),
    ...(given.headers ? { headers: given.headers } : {}),
  })
}

test('the document is OpenAPI 3.1 and describes each operation in Portuguese', () => {
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: '/v1' }])
  for (const [name, { described }] of operations) {
    const { summary, tags, responses } = described
    assert.ok(summary && tags?.length, name)
    for (const { description } of Object.values(responses))
      assert.ok(description && description !== 'Default Response', name)
  }
})

test('the document equals the one that the routes describe without a server', async () => {
  assert.deepEqual(document, await describeRoutes())
})

test('every operation of the document has a case, and every case an operation', () => {
  assert.deepEqual([...operations.keys()].sort(), Object.keys(CASES).sort())
})

for (const [name, cases] of Object.entries(CASES)) {
  for (const given of cases) {
    const { status = 200, path = '', isAnonymous = false } = given
    test(`${name} ${path}${isAnonymous ? ' without a key' : ''}: ${status}, as described`, async () => {
      const operation = operations.get(name)
      assert.ok(operation, name)
      const answer = await call(name, given)
      assert.equal(answer.status, status, answer.text.slice(0, 300))
      const contentType = answer.headers.get('content-type') ?? ''
      assert.equal(faultOf(operation, { ...answer, contentType }), undefined)
    })
  }
}
