/**
 * Clients in Python, each a program beside this file: a task with tools, a stream, an image, errors, and the end of the
 * balance. Where there is no environment for them, they are skipped.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MODELS, startAgentsGateway, type AgentsGateway } from '../agents/agents-gateway.ts'
import { runClient } from '../agents/run-client.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { environmentOf } from './prepare-environment.ts'

/** By the list of packages that they need. */
const PROGRAMS = {
  newest: [
    'openai_client',
    'anthropic_client',
    'litellm_client',
    'langchain_client',
    'pydantic_ai_client',
    'openai_agents_client',
    'smolagents_client',
    'chat_interfaces',
  ],
  'openai-2': ['instructor_client', 'llama_index_client', 'google_client'],
} as const
/** Of every program, each with every model; a program may have more. */
const CASES = ['tools', 'stream', 'image', 'error']
/** Enough for some calls, also for those with tools. */
const POOR_BRL = '0.02'

const models = Object.values(MODELS)
let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

for (const list of ['newest', 'openai-2'] as const) {
  const programs = PROGRAMS[list]
  const prepared = environmentOf(list)
  if ('skip' in prepared) {
    test(`clients in Python: ${programs.join(', ')}`, prepared, () => {})
    continue
  }
  for (const program of programs)
    test(`${program} works over an upstream of each format, and is charged by the upstream’s count`, async (t) => {
      const { secret } = await seedCustomer(agents.gateway.database.db, { balanceBrl: POOR_BRL })
      const { stdout, stderr } = await runClient(
        prepared.python,
        [join(import.meta.dirname, `${program}.py`)],
        {
          ORIGIN: agents.origin,
          KEY: agents.gateway.secret,
          POOR_KEY: secret,
          MODELS: models.join(','),
        },
      )
      const reports = stdout
        .split('\n')
        .filter((line) => line.startsWith('{"case"'))
        .map((line): { case: string; fault: string | null } => JSON.parse(line))
      for (const { case: name, fault } of reports)
        await t.test(name, () => assert.ok(fault === null, String(fault)))
      const done = new Set(reports.map(({ case: name }) => name))
      const wanted = CASES.flatMap((name) => models.map((model) => `${name} (${model})`))
      const missing = [...wanted, 'balance'].filter((name) => !done.has(name))
      assert.deepEqual(missing, [], stdout + stderr)
      // The errors cost nothing; everything else is a call at least.
      await agents.assertCharges(models.length * (CASES.length - 1))
    })
}
