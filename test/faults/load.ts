/** Clients of all customers, which call all nodes until they are stopped. */
import { setTimeout as sleep } from 'node:timers/promises'
import { callAsClient, type Asked, type ClientCall } from './client-call.ts'
import type { Purse } from './purses.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

export interface Load {
  readonly calls: readonly ClientCall[]
  /** Waits until so many answers were received whole, at most this long; the clients go on. */
  untilWhole(count: number, withinMs: number): Promise<void>
  /** Begins no more calls; resolves when every call has ended. */
  stop(): Promise<void>
}

/** Each asks a node that it chooses, whether it is ready or not. */
const RICH_CLIENTS = 12
/** They ask the balancer. */
const BALANCED_CLIENTS = 8
/** The last call takes up to 20 s, for which the end of an episode waits. */
export const RICH_MODELS: readonly string[] = ['quick', 'quick', 'quick', 'slow', 'slow', 'long']
/** The most clients that wait for a node that does not answer. */
const WAITING_PER_NODE_MAX = 8
/**
 * Longer than any node is silent: most clients wait for the answers that a silent node sends when it comes
 * back.
 */
const PATIENCE_MS = 150_000
/** As many calls at once by a customer whose balance covers only a few. */
const BURST = 6

export function startLoad(
  world: World,
  random: Random,
  purses: readonly Purse[],
  models: readonly string[] = RICH_MODELS,
): Load {
  const calls: ClientCall[] = []
  const waiting = world.nodes.map(() => 0)
  const bursts = new Set<Promise<void>>()
  const stopping = new AbortController()

  async function ask(
    purse: Purse,
    to: Asked['to'],
    models: readonly string[],
  ): Promise<ClientCall> {
    const { customerId, key } = purse
    const asked: Asked = {
      to,
      customerId,
      keyId: key.id,
      secret: key.secret,
      model: `${random.pick(['stops', 'runs-on'])}-${random.pick(models)}`,
      isStream: random.next() < 0.5,
      sessionId: random.next() < 0.4 ? `session-${random.between(1, 5)}` : undefined,
      patienceMs: random.next() < 0.12 ? random.between(20, 4_000) : PATIENCE_MS,
    }
    const call = await callAsClient(asked)
    calls.push(call)
    return call
  }

  const nodeOf = (node: number): Asked['to'] => ({
    node,
    baseUrl: (world.nodes[node] as { baseUrl: string }).baseUrl,
  })

  async function runBalancedClient(purse: Purse): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(random.between(50, 900))
      const { ending } = await ask(purse, world.balancer, models)
      if (ending === 'dropped' || ending === 'refused') await sleep(1_000)
    }
  }

  async function runRichClient(purse: Purse): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(random.between(50, 900))
      const free = waiting.flatMap((count, node) => (count < WAITING_PER_NODE_MAX ? [node] : []))
      if (free.length === 0) continue
      const node = random.pick(free)
      waiting[node] = (waiting[node] as number) + 1
      try {
        const { ending } = await ask(purse, nodeOf(node), models)
        // A node that is down refuses at once: asking it hundreds of times proves nothing.
        if (ending === 'dropped' || ending === 'refused') await sleep(1_000)
      } finally {
        waiting[node] -= 1
      }
    }
  }

  /** Many calls at once on all nodes, of which the balance covers a few; one of them uses an unknown key. */
  async function runPoorCustomer(purse: Purse): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(random.between(800, 4_000))
      const nobody = { ...purse, key: { id: '', secret: 'sk-svc-nobody' } }
      const burst = Array.from({ length: BURST }, (_, place) =>
        ask(place === 0 ? nobody : purse, nodeOf(random.between(0, world.nodes.length - 1)), [
          'full',
        ]),
      )
      const ended = Promise.all(burst).then(() => void bursts.delete(ended))
      bursts.add(ended)
    }
  }

  const rich = purses.filter(({ isPoor }) => !isPoor)
  const clients = [
    ...Array.from({ length: RICH_CLIENTS }, (_, index) =>
      runRichClient(rich[index % rich.length] as Purse),
    ),
    ...Array.from({ length: BALANCED_CLIENTS }, (_, index) =>
      runBalancedClient(rich[index % rich.length] as Purse),
    ),
    ...purses.filter(({ isPoor }) => isPoor).map(runPoorCustomer),
  ]
  return {
    calls,
    async untilWhole(count, withinMs) {
      const isEnough = (): boolean =>
        calls.filter(({ ending }) => ending === 'whole').length >= count
      for (const deadline = Date.now() + withinMs; !isEnough() && Date.now() < deadline;)
        await sleep(100)
    },
    async stop() {
      stopping.abort()
      await Promise.all(clients)
      await Promise.all(bursts)
    },
  }
}
