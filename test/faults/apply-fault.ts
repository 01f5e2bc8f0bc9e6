/** Applies a fault to a world, and heals it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { DIRECTIONS, type FaultName, type Round } from './plan-rounds.ts'
import type { DatabasePair } from '../harness/database-pair.ts'
import type { FaultNode } from './fault-node.ts'
import type { Direction } from './tcp-proxy.ts'
import { isPlanned, replaceNodes } from './replace-nodes.ts'
import type { World } from './world.ts'

const RESOLVED_MS_MAX = 60_000

export async function applyFault(world: World, round: Round): Promise<void> {
  if (isPlanned(round.fault)) return replaceNodes(world, round.fault)
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
    case 'restart':
      await node.terminate()
      await sleep(durationMs)
      return node.start()
    case 'clock step':
      return stepClock(node, round)
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
    case 'kill worker':
      return killWorker(world, node, round.worker)
    case 'stop worker':
      node.signalWorker(round.worker, 'SIGSTOP')
      await sleep(durationMs)
      node.signalWorker(round.worker, 'SIGCONT')
      return
    case 'kill parent':
      // The workers let their calls end and exit by themselves, some of them beside a new server.
      await node.killParent()
      await sleep(durationMs)
      return node.start()
    default:
      freezeNetwork()
      await sleep(durationMs)
      return heal()
  }
}

async function stepClock({ clock }: FaultNode, round: Round): Promise<void> {
  for (const seconds of round.offsetsSeconds) {
    clock?.set(seconds)
    await sleep(round.durationMs / round.offsetsSeconds.length)
  }
  // Otherwise the node goes on with a wrong clock until the next step.
  if (round.isReset) clock?.set(0)
}

/** The old primary has ended, and comes back as the standby. */
async function failOver(database: DatabasePair): Promise<void> {
  await database.promote()
  await database.rejoin()
}

function isOfNetworks(fault: FaultName): boolean {
  return fault === 'all cut' || fault === 'all frozen'
}

/** Waits until its parent has replaced it and resolved its holds. */
async function killWorker(world: World, node: FaultNode, number: number): Promise<void> {
  const processId = await findProcess(world, number)
  const pid = node.signalWorker(number, 'SIGKILL')
  if (pid === undefined || processId === undefined) return
  const killedAtMs = Date.now()
  const isOver = async (): Promise<boolean> => (await countHolds(world, processId)) === 0
  for (; !(await isOver()) && Date.now() - killedAtMs < RESOLVED_MS_MAX;) await sleep(50)
  world.killedWorkers.push({ killedAtMs, resolvedAtMs: Date.now() })
  for (; !node.hasReplaced(pid) && Date.now() - killedAtMs < RESOLVED_MS_MAX;) await sleep(50)
}

/** Of the worker with this number; only one node of a world has workers. */
async function findProcess({ db }: World, number: number): Promise<string | undefined> {
  const read = sql<{ process_id: string }>`
    select process_id from nodes where worker = ${number} order by started_at desc limit 1`
  const result = await read.execute(db).catch(() => undefined)
  return result?.rows[0]?.process_id
}

/** More than none while the database does not answer. */
async function countHolds({ db }: World, processId: string): Promise<number> {
  const read = sql<{ holds: number }>`
    select count(*)::int4 as holds from holds h join nodes n on n.id = h.node_id
    where n.process_id = ${processId}`
  const result = await read.execute(db).catch(() => undefined)
  return result?.rows[0]?.holds ?? 1
}

async function applyToAll(world: World, round: Round): Promise<void> {
  const { database } = world
  const { fault, durationMs, isReset } = round
  // A manager of fail-overs takes a standby only if it has all that was committed.
  if (!isOfNetworks(fault)) await database.untilSynchronous()
  switch (fault) {
    case 'database kill':
      database.primary.crash()
      // Until the supervisor notices that it is gone, and it answers again.
      await sleep(1_000)
      return world.untilAnswering()
    case 'database restart':
    case 'database unavailable':
      await database.primary.stop()
      await sleep(durationMs)
      return database.primary.start()
    case 'fail-over':
      await database.primary.kill()
      await sleep(durationMs)
      return failOver(database)
    case 'stop and fail-over':
      database.primary.freeze()
      await sleep(durationMs)
      await database.primary.kill()
      return failOver(database)
    case 'switch-over':
      await database.primary.stop()
      await sleep(durationMs)
      return failOver(database)
    case 'standby stop':
      database.standby.freeze()
      await sleep(durationMs)
      database.standby.thaw()
      return database.untilSynchronous()
    case 'standby stop and fail-over':
      // Changes written meanwhile are lost with the primary, so no commit of them may have been acknowledged.
      database.standby.freeze()
      await sleep(durationMs)
      await database.primary.kill()
      database.standby.thaw()
      return failOver(database)
    case 'standby kill':
      await database.standby.kill()
      await sleep(durationMs)
      await database.goOnAlone()
      return database.rejoin()
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
