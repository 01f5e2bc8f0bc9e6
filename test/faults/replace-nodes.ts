/** What an operator does with all nodes, one after the other, under load and behind a balancer. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { OtherRelease } from './fault-node.ts'
import { PLANNED_FAULTS, type FaultName } from './plan-rounds.ts'
import type { World } from './world.ts'

type Planned = (typeof PLANNED_FAULTS)[number]

const READY_MS_MAX = 60_000

export function isPlanned(fault: FaultName): fault is Planned {
  return (PLANNED_FAULTS as readonly string[]).includes(fault)
}

export async function replaceNodes(world: World, fault: Planned): Promise<void> {
  const { previous } = world
  switch (fault) {
    case 'rolling restart':
      return rollTo(world, undefined)
    case 'rolling reload':
      for (const node of world.nodes) await node.reload()
      return
    case 'upgrade':
      if (previous) await rollTo(world, undefined)
      return
    case 'rollback and upgrade':
      if (!previous) return
      await rollTo(world, previous)
      await rollTo(world, undefined)
  }
}

/** `undefined` is this release. */
async function rollTo(world: World, release: OtherRelease | undefined): Promise<void> {
  for (const node of world.nodes) {
    await node.terminate()
    node.setRelease(release)
    await node.start()
    const deadline = Date.now() + READY_MS_MAX
    while (!world.balancer.isReady(node.index) && Date.now() < deadline) await sleep(50)
  }
}
