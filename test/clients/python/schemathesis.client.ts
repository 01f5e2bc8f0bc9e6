/**
 * Schemathesis reads `/v1/openapi.json` and calls every operation with a key of each scope: valid requests and broken
 * ones, the same in every run. No answer may be a 5xx, or have a status, a type or a body that the description lacks.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../../src/customers/api-keys.ts'
import { KEY_SCOPES, type KeyScope } from '../../../src/customers/key-scopes.ts'
import { assertAudit, untilNoHoldIsOpen } from '../../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../../harness/gateway-process.ts'
import { enableFactor } from '../../harness/open-session.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { runClient } from '../agents/run-client.ts'
import { environmentOf } from './prepare-environment.ts'

/** Of each operation: generated requests take up to a tenth of a second each. */
const EXAMPLES = 2
const OPERATOR = 'operadora@exemplo.com.br'
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

const prepared = environmentOf('newest')
let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: OPERATOR })
})

after(() => gateway.stop())

for (const scope of KEY_SCOPES)
  test(
    `Schemathesis finds no 5xx and no answer outside of its description, with a key of the scope “${scope}”`,
    'skip' in prepared ? prepared : {},
    async () => {
      assert.ok('python' in prepared)
      const { code, stdout, stderr } = await runClient(
        prepared.python,
        `-m schemathesis.cli run ${gateway.node.baseUrl}/openapi.json --phases fuzzing
        --max-examples ${EXAMPLES} --generation-deterministic --no-shrink --suppress-health-check all
        --checks ${CHECKS.join(',')} --request-timeout 30 --warnings off --no-color --header`
          .split(/\s+/)
          .concat(`Authorization: Bearer ${await keyOf(scope)}`),
        { PYTHONIOENCODING: 'utf-8' },
      )
      assert.equal(code, 0, `${stdout.slice(-20_000)}${stderr}`)
      assert.match(stdout, /Selected: (\d{3})\/\1\n +Tested: \1\n/)
      await untilNoHoldIsOpen(gateway.database)
      await assertAudit(gateway.database)
    },
  )

async function keyOf(scope: KeyScope): Promise<string> {
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl: '100' })
  const expiresAt = new Date(Date.now() + 3_600_000)
  const isOperator = scope === 'operator'
  if (isOperator) {
    await db
      .updateTable('customers')
      .set({ email: OPERATOR })
      .where('id', '=', customerId)
      .execute()
    await enableFactor(db, customerId)
  }
  const input = { customerId, name: scope, scope, requestsPerMinute: 1_000_000 }
  return (await createApiKey(db, { ...input, ...(isOperator && { expiresAt }) })).secret
}
