import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from '../../../../test/harness/fast-check.ts'
import { growMerkleTree } from './merkle-tree.ts'

const sha256 = (...parts: Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer')
const NODE = Buffer.from([1])

/** As RFC 9162 defines it: the left half has the largest power of two below the number of leaves. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0] as Buffer
  let half = 1
  while (half * 2 < leaves.length) half *= 2
  return sha256(NODE, rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)))
}

const trees = fc.array(
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
  {
    maxLength: 70,
  },
)

test('the root is that of RFC 9162', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async (leaves) =>
      assert.deepEqual((await growMerkleTree(leaves)).root, rootOf(leaves)),
    ),
  )
})

test('the path of each leaf leads to the root, and that of no other leaf does', async () => {
  await fc.assert(
    fc.asyncProperty(trees, fc.nat(), async (leaves, random) => {
      fc.pre(leaves.length > 0)
      const index = random % leaves.length
      const tree = await growMerkleTree(leaves)
      const climb = (leaf: Buffer): Buffer =>
        tree
          .pathOf(index)
          .reduce(
            (node, { side, hash: other }) =>
              side === 'left' ? sha256(NODE, other, node) : sha256(NODE, node, other),
            leaf,
          )
      assert.deepEqual(climb(leaves[index] as Buffer), tree.root)
      assert.notDeepEqual(climb(sha256(leaves[index] as Buffer)), tree.root)
    }),
  )
})
