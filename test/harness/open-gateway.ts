/** A server with a separate database. */
import type { LocalNode, NodeOptions } from './local-node.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from './test-database.ts'

export interface Gateway<Node extends LocalNode> {
  readonly database: TestDatabase
  readonly node: Node
  /** Of a customer with BRL 10,000. */
  readonly secret: string
  readonly customerId: string
  stop(): Promise<void>
}

export async function openGateway<Node extends LocalNode>(
  start: (options: NodeOptions) => Promise<Node>,
  env: Record<string, string>,
): Promise<Gateway<Node>> {
  const database = await createTestDatabase()
  try {
    const node = await start({ databaseUrl: database.databaseUrl, env })
    const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '10000' })
    return {
      database,
      node,
      secret,
      customerId,
      async stop() {
        await node.stop()
        await node.remove()
        await database.drop()
      },
    }
  } catch (error) {
    await database.drop()
    throw error
  }
}
