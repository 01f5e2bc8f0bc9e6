/** The gateways of the comparison, in the order of the tables: from the one that does least to the one that does most. */
import { execFileSync } from 'node:child_process'
import { deadPort } from '../chat-request.ts'
import { findProgram } from '../find-program.ts'
import { deadFirstPath, type StartTarget, type Target } from '../target.ts'
import { startBifrost, startBifrostGoverned } from '../targets/bifrost.ts'
import { startCatraca } from '../targets/catraca.ts'
import { startDirect } from '../targets/direct.ts'
import { startHaproxy } from '../targets/haproxy.ts'
import { startLitellm, startLitellmBilling } from '../targets/litellm.ts'
import { startNginx } from '../targets/nginx.ts'
import { portkeyVersion, startPortkey } from '../targets/portkey.ts'
import type { Peer, PeerPlan, StartPeer } from './peer.ts'

const NOTHING = 'nothing'

export const peers: readonly PeerPlan[] = [
  {
    name: 'direct',
    checks: NOTHING,
    bills: NOTHING,
    start: peerOf(startDirect, () => ({ version: '' })),
  },
  {
    name: 'nginx',
    checks: NOTHING,
    bills: NOTHING,
    start: peerOf(startNginx, () => ({
      version: nginxVersion(),
      failOver: { path: deadFirstPath },
    })),
  },
  { name: 'haproxy', checks: NOTHING, bills: NOTHING, start: startHaproxy },
  {
    name: 'portkey',
    checks: NOTHING,
    bills: NOTHING,
    start: peerOf(startPortkey, ({ headers }) => ({
      version: portkeyVersion(),
      failOver: { headers: deadFirst(headers) },
    })),
  },
  { name: 'bifrost', checks: NOTHING, bills: NOTHING, start: startBifrost },
  { name: 'litellm', checks: 'one key', bills: NOTHING, start: startLitellm },
  {
    name: 'bifrost-governed',
    checks: 'key, budget',
    bills: 'every 10 s',
    start: startBifrostGoverned,
  },
  {
    name: 'litellm-billing',
    checks: 'key, limits, budget',
    bills: 'every 60 s',
    start: startLitellmBilling,
  },
  {
    name: 'catraca',
    checks: 'key, limits, held balance',
    bills: 'before the last byte',
    start: peerOf(startCatraca, booksOf),
  },
]

/** A target of the other benchmarks, with what the comparison wants to know beside. */
function peerOf(
  start: StartTarget,
  factsOf: (target: Target) => Omit<Peer, keyof Target> & { readonly version: string },
): StartPeer {
  return async (surroundings) => {
    const target = await start(surroundings)
    return 'kind' in target ? target : { ...target, ...factsOf(target) }
  }
}

function booksOf(target: Target): Omit<Peer, keyof Target> {
  return {
    version: '',
    wrongKey: { authorization: `Bearer sk-svc-${'0'.repeat(40)}` },
    failOver: {},
    async readBooks() {
      const { charges, openHolds, isSound } = (await target.audit?.()) ?? {
        charges: 0,
        openHolds: 1,
      }
      return {
        charged: charges,
        isComplete: openHolds === 0,
        ...(isSound === undefined ? {} : { isSound }),
      }
    },
    restart: async () => target.on?.(target.dataDir ?? '').start(),
  }
}

function nginxVersion(): string {
  // It prints its version as an error.
  const said = execFileSync('sh', ['-c', `${findProgram('nginx')} -v 2>&1`], { encoding: 'utf8' })
  return /nginx\/([\d.]+)/.exec(said)?.[1] ?? ''
}

/** Portkey takes its routes from a header of each call. */
function deadFirst(headers: Target['headers']): Target['headers'] {
  const { 'x-portkey-custom-host': live = '', 'x-portkey-provider': provider, ...rest } = headers
  const targetAt = (host: string) => ({ provider, api_key: 'sk-bench', custom_host: host })
  const targets = [targetAt(`http://127.0.0.1:${deadPort}/v1`), targetAt(live)]
  return {
    ...rest,
    'x-portkey-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets }),
  }
}
