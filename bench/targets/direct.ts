/** No gateway: the upstream itself, the baseline for the time that each gateway adds. */
import { chatPath, type StartTarget } from '../target.ts'

export const startDirect: StartTarget = async ({ upstreamPort }) => ({
  name: 'direct',
  port: upstreamPort,
  path: chatPath,
  headers: { authorization: 'Bearer sk-bench' },
  pid: undefined,
})
