/**
 * A hash tree as certificate transparency logs have it (RFC 9162, section 2.1): from any leaf, a short path of hashes
 * leads to the root. Leaves are hashes already (`charge_leaf` in `sql/seals.sql`).
 */
import { hash } from 'node:crypto'
import { inSlices } from '../../../platform/admission/turn.ts'

/** The neighbour with which a node of the path is hashed, on its way up. */
export interface PathStep {
  readonly side: 'left' | 'right'
  readonly hash: Buffer
}

export interface MerkleTree {
  /** Of no leaves: the hash of nothing. */
  readonly root: Buffer
  /** The steps from the leaf at `place` up to the root. */
  pathOf(index: number): PathStep[]
}

const NODE = Buffer.from([1])

/** Hashes each node once, and lets others work meanwhile: a seal has up to 20,000 leaves. */
export async function growMerkleTree(leaves: readonly Buffer[]): Promise<MerkleTree> {
  const levels = [leaves]
  for (let level = leaves; level.length > 1; levels.push(level)) level = await above(level)
  return {
    root: levels.at(-1)?.[0] ?? hash('sha256', '', 'buffer'),
    pathOf: (index) =>
      levels.flatMap((level, height): PathStep[] => {
        const at = index >> height
        const neighbour = level[at ^ 1]
        return neighbour ? [{ side: at % 2 === 1 ? 'left' : 'right', hash: neighbour }] : []
      }),
  }
}

/** A last node without a neighbour moves up as it is. */
async function above(level: readonly Buffer[]): Promise<readonly Buffer[]> {
  const nodes: Buffer[] = []
  await inSlices(() => {
    const at = 2 * nodes.length
    if (at >= level.length) return false
    const [left, right] = [level[at] as Buffer, level[at + 1]]
    nodes.push(right ? hash('sha256', Buffer.concat([NODE, left, right]), 'buffer') : left)
    return true
  })
  return nodes
}
