/** A server process with a separate database. */
import { createTestDatabase, seedCustomer, type TestDatabase } from './test-database.ts'
import { startTestNode, type TestNode } from './test-node.ts'

export interface TestGateway {
  readonly database: TestDatabase
  readonly node: TestNode
  /** Of a customer with BRL 10,000. */
  readonly secret: string
  readonly customerId: string
  stop(): Promise<void>
}

export async function startGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  const database = await createTestDatabase()
  try {
    const node = await startTestNode({ databaseUrl: database.databaseUrl, env })
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
