/**
 * The description of the interface against the interface: every operation of `/v1/openapi.json` is called,
 * and what it answers has the shape that the description gives it. A new operation without a case fails.
 */
import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { after, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ContractCase, ContractCases } from './contract-cases/contract-case.ts'
import { ask, startGateway, type Asked, type GatewayUnderTest } from './gateway-under-test.ts'

interface OpenApi {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Described>>
}
interface Described {
  summary?: string
  tags?: string[]
  security?: object[]
  requestBody?: object
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}

const gateway = await startGateway()
after(() => gateway.stop())
const document = (await ask(gateway.node.baseUrl, '/openapi.json')).json as OpenApi

/** Of each operation some calls, the sound one first. */
const CASES: ContractCases = {}
for await (const file of glob('contract-cases/*.ts', { cwd: import.meta.dirname })) {
  const { createCases } = (await import(`./${file}`)) as {
    createCases?: (gateway: GatewayUnderTest) => Promise<ContractCases>
  }
  Object.assign(CASES, await createCases?.(gateway))
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
ajv.addFormat('date-time', (text: string) => new Date(text).toISOString() === text)
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/)

function operationsOf({ paths }: OpenApi): Map<string, Described> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]): [string, Described] => [
        `${method.toUpperCase()} ${path}`,
        described,
      ]),
    ),
  )
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
  for (const [name, { summary, tags, responses }] of operationsOf(document)) {
    assert.ok(summary && tags?.length, name)
    for (const { description } of Object.values(responses))
      assert.ok(description && description !== 'Default Response', name)
  }
})

test('every operation of the document has its case, and every case its operation', () => {
  assert.deepEqual([...operationsOf(document).keys()].sort(), Object.keys(CASES).sort())
})

test('/docs shows every operation to people, without a script', async () => {
  const page = await fetch(new URL('/docs', gateway.node.baseUrl))
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const html = await page.text()
  for (const name of operationsOf(document).keys()) {
    const [method = '', path = ''] = name.split(' ')
    assert.ok(html.includes(`>${method}</span> <code>${path}</code>`), name)
  }
  assert.doesNotMatch(html, /<script/)
})

for (const [name, cases] of Object.entries(CASES)) {
  for (const given of cases) {
    const { status = 200, path = '', isAnonymous = false } = given
    test(`${name} ${path}${isAnonymous ? ' without a key' : ''}: ${status}, as described`, async () => {
      const described = operationsOf(document).get(name)
      const answer = await call(name, given)
      assert.equal(answer.status, status, answer.text.slice(0, 300))
      const response = described?.responses[status]
      assert.ok(response, `${name} says nothing of ${status}`)
      const type = (answer.headers.get('content-type') ?? '').split(';')[0] as string
      const schema = response.content?.[type]?.schema
      if (!response.content) return assert.equal(answer.text, '')
      assert.ok(schema, `${name} says nothing of ${type}`)
      const isAsDescribed = ajv.validate(schema, answer.json)
      assert.ok(isAsDescribed, `${ajv.errorsText()}: ${answer.text.slice(0, 500)}`)
    })
  }
}
