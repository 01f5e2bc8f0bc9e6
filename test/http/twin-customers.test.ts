/**
 * What a customer has and reads does not depend on what another customer does, even if that one chooses the same words:
 * names, session ids, addresses of webhooks, whatever is unique only for each customer. So a query that lacks its
 * `customer_id` fails here also where `tenant-isolation.test.ts` finds nothing: where rows are found by a word and not by
 * an id, and where they only enter a sum.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'
import { createHousehold, untilAllIsSent, type Household } from './isolation-cases/household.ts'
import { ADMIN, FILTERS, pathFor } from './isolation-cases/requests.ts'
import { createSnapshots, idsIn, rowsWithout } from './isolation-cases/snapshot.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node
const takeSnapshot = createSnapshots(gateway.database.db)
const reads = [...operationsOf(await readOpenApi(baseUrl)).values()].filter(
  ({ name, method, described }) =>
    method === 'GET' && described.security !== undefined && !ADMIN.includes(name),
)

/** Each list and thing, and each list by each of its filters. */
function pathsOf(household: Household): { readonly name: string; readonly path: string }[] {
  return reads.flatMap(({ name, path, described }) => {
    const plain = pathFor({ path }, household)
    const filters = (described.parameters ?? []).filter((one) => one.name in FILTERS)
    const filtered = filters.map((one) => {
      const value = FILTERS[one.name]?.(household) ?? ''
      return `${plain}?${one.name}=${encodeURIComponent(value)}`
    })
    return [plain, ...filtered].map((whole) => ({ name, path: whole }))
  })
}

/** What moves by itself: times of the reading and what tells of it, and what was used within the last minute. */
const OF_NOW = [
  /"(?:last_used_at|until_at|generated_at|current|headroom_percent)":(?:"[^"]*"|[^,}]+)/g,
  /\{[^{}]*"action":"account\.exported"[^{}]*\},/g,
  /"activities":\d+/g,
  /\d\d:\d\d(?= \()/g,
]

async function readAll({
  household,
  secret,
}: {
  household: Household
  secret: string
}): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const { name, path } of pathsOf(household)) {
    const { status, text } = await ask(baseUrl, path, { secret })
    assert.equal(status, 200, `${name}: ${text}`)
    answers.set(
      path,
      OF_NOW.reduce((left, moving) => left.replaceAll(moving, ''), text),
    )
  }
  return answers
}

const household = await createHousehold(gateway)
const { secret, customerId } = household.owner
// An export is told by a mail, which the next one lists.
await readAll({ household, secret })
await untilAllIsSent(gateway.database)
const answers = await readAll({ household, secret })
const rows = await takeSnapshot()
const twins = await createHousehold(gateway, ' gêmea')

test('a customer with the same words changes no row of another', async () => {
  const gone = rowsWithout(rows, await takeSnapshot())
  assert.deepEqual(
    gone.filter((row) => row.includes(customerId)),
    [],
  )
})

test('a customer reads the same whatever another with the same words has done', async (t) => {
  assert.ok(answers.size > 40, `${answers.size} paths`)
  const later = await readAll({ household, secret })
  for (const [path, text] of answers) await t.test(path, () => assert.equal(later.get(path), text))
})

test('a customer with the same words reads nothing of the first', async (t) => {
  // In turns, so that the times between a customer's calls have one of the other's.
  for (const { owner, ids } of [household, twins]) {
    const headers = { 'x-svc-session-id': ids.session }
    const { status } = await askChat(baseUrl, owner.secret, sound(), headers)
    assert.equal(status, 200)
  }
  const rowsOfFirst = [...(await takeSnapshot())].filter((row) => row.includes(customerId))
  const ids = [...idsIn(new Set(rowsOfFirst))]
  assert.ok(ids.length > 50, `${ids.length} ids`)
  for (const [path, text] of await readAll({ household: twins, secret: twins.owner.secret }))
    await t.test(path, () =>
      assert.deepEqual(
        ids.filter((id) => text.includes(id)),
        [],
      ),
    )
})
