/**
 * The answers to the probes of balancers and service managers. `/livez`: the process works; `/startupz`: it has started;
 * `/readyz`: it should get requests.
 */
import type { Readiness, UnreadyReason } from './readiness.ts'

export const PROBE_PATHS = ['/livez', '/readyz', '/startupz'] as const
export type ProbePath = (typeof PROBE_PATHS)[number]

export interface ProbeAnswer {
  readonly status: 200 | 503
  readonly body: { readonly status: 'ok' | 'unavailable'; readonly reasons?: UnreadyReason[] }
}

const OK: ProbeAnswer = { status: 200, body: { status: 'ok' } }

/** Answers a probe. `readiness` is undefined until the server has started. */
export async function answerProbe(
  path: ProbePath,
  readiness: Readiness | undefined,
): Promise<ProbeAnswer> {
  if (path === '/livez') return OK
  if (!readiness) return unavailable(['starting'])
  if (path === '/startupz') return OK
  const reasons = await readiness.findUnready()
  return reasons.length === 0 ? OK : unavailable(reasons)
}

function unavailable(reasons: readonly UnreadyReason[]): ProbeAnswer {
  return { status: 503, body: { status: 'unavailable', reasons: [...reasons] } }
}
