/** No gateway: the upstream itself. What the others are compared with to tell what they add. */
import { chatPath, type StartTarget } from '../target.ts'

export const startDirect: StartTarget = async ({ upstreamPort }) => ({
  name: 'direct',
  port: upstreamPort,
  path: chatPath,
  headers: { authorization: 'Bearer sk-bench' },
  pid: undefined,
})
