/**
 * What this comparison is for: a gateway that bills is killed in the middle of a load, and started again. Then the
 * upstream's count, the clients' and the gateway's own books are of the same calls, and can be compared.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readGatewayProcesses } from '../process-usage.ts'
import { report } from '../report.ts'
import type { PeersBench, RunningPeer } from './open-peers.ts'
import type { Books, Kill } from './peer.ts'
import type { Plan } from './plan.ts'

/** Spend that is written once a minute is in the books by then, and so is what a fenced node had open. */
const BOOKS_MS_MAX = 100_000

export async function killEach(bench: PeersBench, { killSeconds }: Plan): Promise<Kill[]> {
  const kills: Kill[] = []
  for (const peer of bench.peers) {
    if (!peer.readBooks || !peer.restart) continue
    const deliveredBefore = bench.delivered(peer)
    const booksBefore = await readSettled(peer, deliveredBefore)
    const upstreamBefore = (await bench.readUpstream()).finished
    const load = bench.load(peer, { connections: 16, seconds: killSeconds })
    await sleep((killSeconds * 1000) / 2)
    for (const pid of readGatewayProcesses(peer.pid as number)) process.kill(pid, 'SIGKILL')
    const { answersInAll: delivered } = await load
    const answeredByUpstream = (await bench.readUpstream()).finished - upstreamBefore
    const restartedAt = performance.now()
    await peer.restart()
    const books = await readSettled(peer, booksBefore.charged + delivered)
    const charged = books.charged - booksBefore.charged
    kills.push({
      target: peer.name,
      answeredByUpstream,
      delivered,
      charged,
      free: Math.max(0, delivered - charged),
      chargedTwice: Math.max(0, charged - answeredByUpstream),
      before: { delivered: deliveredBefore, charged: booksBefore.charged },
      secondsToBooks: Math.round((performance.now() - restartedAt) / 1000),
      isSound: books.isSound ?? null,
    })
    report('killed', peer.name, JSON.stringify(kills.at(-1)))
  }
  return kills
}

/** Reads the books until nothing is open in them and they have what was expected; at most for a time. */
async function readSettled(peer: RunningPeer, expected: number): Promise<Books> {
  for (const deadline = Date.now() + BOOKS_MS_MAX; ; await sleep(1000)) {
    const books = (await peer.readBooks?.()) as Books
    if ((books.isComplete && books.charged >= expected) || Date.now() > deadline) return books
  }
}
