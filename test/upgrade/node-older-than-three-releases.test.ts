// deep: an attack
/** Schemas of SQL functions while nodes that call them are alive. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createFunctions, functionFiles, nameFunctionSet } from '../../src/platform/db/functions.ts'
import { connectionConfig } from '../../src/platform/db/open.ts'
import { askChat, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})

after(() => gateway.stop())

/** As the first start of a release with one changed function does it. */
async function createSetOf(release: number): Promise<void> {
  const client = new pg.Client(connectionConfig(gateway.database.databaseUrl))
  await client.connect()
  try {
    const [first, ...others] = functionFiles as [(typeof functionFiles)[0], ...typeof functionFiles]
    const changed = { ...first, text: `${first.text}-- release ${release}\n` }
    assert.equal(await createFunctions(client, nameFunctionSet([changed, ...others])), true)
  } finally {
    await client.end()
  }
}

test('a node that runs for long keeps serving when other nodes start three newer releases', async () => {
  const { node, secret } = gateway
  for (const release of [1, 2, 3]) {
    await createSetOf(release)
    const answer = await askChat(node.baseUrl, secret, sound())
    assert.equal(answer.status, 200, `after release ${release}: ${answer.text}`)
  }
})
