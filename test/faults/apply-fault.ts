/** Applies a fault to a world, and heals it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DIRECTIONS, type Round } from './plan-rounds.ts'
import type { FaultNode } from './fault-node.ts'
import type { Direction } from './tcp-proxy.ts'
import type { World } from './world.ts'

export async function applyFault(world: World, round: Round): Promise<void> {
  if (round.node === undefined) return applyToAll(world, round)
  const node = world.nodes[round.node] as FaultNode
  const { durationMs, bytesLeft } = round
  const freezeNetwork = (): void => node.network.freeze(DIRECTIONS[round.fault] as Direction[])
  const heal = (): void => node.network.heal(round)
  switch (round.fault) {
    case 'kill':
      await node.kill()
      await sleep(durationMs)
      return node.start()
    case 'stop 30 s':
    case 'stop 90 s':
      node.freeze()
      await sleep(durationMs)
      return node.thaw()
    case 'stop and cut':
      node.freeze()
      node.network.cut()
      await sleep(durationMs)
      node.thaw()
      await sleep(1_000)
      return heal()
    case 'cut':
      node.network.cut()
      await sleep(durationMs)
      return heal()
    case 'full disk and cut':
    case 'full disk and freeze':
      node.disk?.fill(bytesLeft)
      if (round.fault === 'full disk and cut') node.network.cut()
      else freezeNetwork()
      await sleep(durationMs)
      // Either the disk or the network recovers first.
      if (round.isReset) node.disk?.empty()
      heal()
      await sleep(2_000)
      return node.disk?.empty()
    case 'cut and kill':
      // The node dies with a spool of settlements that the database could not take.
      node.network.cut()
      await sleep(Math.min(durationMs, 12_000))
      await node.kill()
      heal()
      await sleep(durationMs)
      return node.start()
    default:
      freezeNetwork()
      await sleep(durationMs)
      return heal()
  }
}

async function applyToAll(world: World, { fault, durationMs, isReset }: Round): Promise<void> {
  switch (fault) {
    case 'database kill':
      return world.killDatabase()
    case 'database restart':
    case 'database unavailable':
      await world.stopDatabase()
      await sleep(durationMs)
      return world.startDatabase()
    default:
      // The end of this fault heals the network of every node, which shortens a node's own round that runs at
      // the same time.
      for (const { network } of world.nodes) {
        if (fault === 'all cut') network.cut()
        else network.freeze(DIRECTIONS['all frozen'] as Direction[])
      }
      await sleep(durationMs)
      for (const { network } of world.nodes) network.heal({ isReset })
  }
}
