/**
 * A hash tree as certificate transparency logs have it (RFC 9162, section 2.1): from any leaf, a short path of hashes
 * leads to the root. Leaves are hashes already (`charge_leaf` in `sql/seals.sql`).
 */
import { hash } from 'node:crypto'

/** The neighbour with which a node of the path is hashed, on its way up. */
export interface PathStep {
  readonly side: 'left' | 'right'
  readonly hash: Buffer
}

const NODE = Buffer.from([1])

/** Of no leaves: the hash of nothing. */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  return levelsOf(leaves).at(-1)?.[0] ?? hash('sha256', '', 'buffer')
}

/** The steps from the leaf at `place` up to the root. */
export function merklePath(leaves: readonly Buffer[], place: number): PathStep[] {
  return levelsOf(leaves).flatMap((level, height): PathStep[] => {
    const at = place >> height
    const neighbour = level[at ^ 1]
    return neighbour ? [{ side: at % 2 === 1 ? 'left' : 'right', hash: neighbour }] : []
  })
}

/** From the leaves up to the root. A last node without a neighbour moves up as it is. */
function levelsOf(leaves: readonly Buffer[]): (readonly Buffer[])[] {
  const levels = [leaves]
  for (let level = leaves; level.length > 1; levels.push(level)) level = above(level)
  return levels
}

function above(level: readonly Buffer[]): Buffer[] {
  const nodes: Buffer[] = []
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at] as Buffer, level[at + 1]]
    nodes.push(right ? hash('sha256', Buffer.concat([NODE, left, right]), 'buffer') : left)
  }
  return nodes
}
