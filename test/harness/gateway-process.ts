/** A server process with a separate database, for the tests that kill or measure the process. */
import { openGateway, type Gateway } from './open-gateway.ts'
import { startTestNode, type TestNode } from './test-node.ts'

export type GatewayProcess = Gateway<TestNode>

export function startGatewayProcess(env: Record<string, string> = {}): Promise<GatewayProcess> {
  return openGateway(startTestNode, env)
}
