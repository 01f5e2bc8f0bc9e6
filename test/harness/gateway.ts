/** A server in the process of the test, with a separate database. */
import { startLocalNode, type LocalNode } from './local-node.ts'
import { openGateway, type Gateway } from './open-gateway.ts'

export type TestGateway = Gateway<LocalNode>

export function startGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  return openGateway(startLocalNode, env)
}
