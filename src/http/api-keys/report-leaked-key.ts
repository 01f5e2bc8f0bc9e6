import type { FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { pauseLeakedKey } from '../../customers/key-acts.ts'
import { API_KEY_PREFIX } from '../../customers/key-secret.ts'
import { limitAttempts } from '../../platform/admission/attempts.ts'
import { nearNetwork } from '../../platform/lib/client-networks.ts'
import type { HttpParts } from '../rest/parts.ts'

/** From one IPv4 address or IPv6 /64, over all nodes. */
const REPORTS = { max: 20, seconds: 3_600 }
/** Reporters copy what stands around a key along: quotes, the name of a variable, the scheme. */
const SECRET = new RegExp(`${API_KEY_PREFIX}[\\w-]+`)

/**
 * Pauses the key with this secret, if there is one; nothing tells the reporter whether there is. Returns the seconds to
 * wait for a network that has reported too often. The secret is neither stored nor logged.
 */
export async function reportLeakedKey(
  { db }: Pick<HttpParts, 'db'>,
  request: FastifyRequest,
  reported: string,
): Promise<number | undefined> {
  const ip = plainIp(request.ip)
  const wait = await limitAttempts(db, `leaked-key:${nearNetwork(ip)}`, REPORTS)
  if (wait !== undefined) return wait
  await pauseLeakedKey(db, { kind: 'system', ip }, SECRET.exec(reported)?.[0] ?? reported)
  return undefined
}
