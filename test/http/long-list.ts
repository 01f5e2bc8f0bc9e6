/** A gateway of which one customer has a list that is longer than the buffers of a connection. */
import assert from 'node:assert/strict'
import { ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

export const LONG_LIST = '/me/prompts?limit=200'

/** Its prompts have 128,000 bytes each. */
export async function startWithLongList(prompts: number): Promise<TestGateway> {
  const gateway = await startGateway({ BODY_BYTES_MAX: '8388608', BODIES_BYTES_MAX: '33554432' })
  for (let made = 0; made < prompts; made += 1)
    assert.equal((await saveLongPrompt(gateway, 'longo')).status, 201)
  return gateway
}

export function saveLongPrompt({ node, secret }: TestGateway, name: string) {
  return ask(node.baseUrl, '/me/prompts', { secret, body: { name, body: '😀'.repeat(32_000) } })
}
