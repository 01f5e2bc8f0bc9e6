/** The dashboard's types are generated from the schemas of the API, and change with them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { contractOf, type OpenApiDocument } from '../../web/contract/contract-of.ts'
import { describeRoutes } from '../../web/contract/describe-routes.ts'

test("the dashboard's contract is what the routes describe now", async () => {
  const expected = await contractOf(await describeRoutes())
  const path = join(import.meta.dirname, '../../web/src/api/contract.ts')
  const isCurrent = (await readFile(path, 'utf8')) === expected
  assert.ok(isCurrent, 'web/src/api/contract.ts is old: npm run web:contract')
})

test('an operation that changes its answer changes the contract', async () => {
  const withAnswer = (type: 'number' | 'string'): OpenApiDocument => ({
    paths: {
      '/things/{id}': {
        get: {
          summary: 'Uma coisa',
          parameters: [
            { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
            { in: 'query', name: 'days', schema: { type: 'integer', title: 'Days' } },
          ],
          responses: {
            200: {
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    properties: { amount: { type } },
                    required: ['amount'],
                  },
                },
              },
            },
          },
        },
      },
    },
  })
  const [asNumber, asText] = await Promise.all([
    contractOf(withAnswer('number')),
    contractOf(withAnswer('string')),
  ])
  assert.match(asNumber, /amount: number/)
  assert.match(asText, /amount: string/)
  assert.match(asNumber, /path: \{\s+id: string\s+\}\s+query: \{\s+days\?: number\s+\}/)
})
